"use strict";

const CONFIGURATION = { displaylogo: false, displayModeBar: "hover", responsive: true, doubleClick: "reset",
  modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };
const NARROW_PX = 560;

/* Tables: a heading sorts, a field searches. */

function valueOf(row, column, numeric) {
  const text = row.cells[column].dataset.value;
  return text === "" ? null : numeric ? Number(text) : text;
}

function compare(left, right) {
  return typeof left === "number" ? left - right : left.localeCompare(right, "en", { numeric: true });
}

function sortBy(heading) {
  const table = heading.closest("table");
  const column = heading.cellIndex;
  const numeric = heading.classList.contains("number");
  const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [valueOf(row, column, numeric), row]);
  rows.sort(([left], [right]) => {
    if (left === null || right === null) return (left === null) - (right === null);
    return direction * compare(left, right);
  });
  body.append(...rows.map(([, row]) => row));
}

function makeSearchable(part) {
  const field = part.querySelector("input");
  const count = part.querySelector("output");
  const rows = [...part.querySelector("tbody").rows];
  field.closest("[hidden]").hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows` : "";
  });
}

for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.addEventListener("click", () => sortBy(button.parentElement));
}
for (const part of document.querySelectorAll("[data-searchable]")) makeSearchable(part);

/* Pictures: plotly.js takes the place of the still picture where it can be had. */

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function dressedAxis(axis) {
  const lines = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--soft") };
  return { automargin: true, ticks: "", ...lines, ...axis, title: { standoff: 8, ...axis?.title } };
}

function dressed(layout, narrow) {
  const plain = { color: colour("--text"), family: "system-ui, sans-serif", size: narrow ? 11 : 12 };
  const touch = matchMedia("(hover: none)").matches;
  const made = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: plain, autosize: true,
    margin: { l: 8, r: touch ? 36 : 12, t: 8, b: 8, pad: 4 },
    legend: { orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom", traceorder: "normal" },
    hoverlabel: { bgcolor: colour("--paper"), bordercolor: colour("--soft"), font: plain, align: "left" },
    modebar: { orientation: touch ? "v" : "h", bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") },
    hovermode: "closest",
    dragmode: touch ? false : "zoom",
    ...layout,
  };
  for (const key of Object.keys(layout)) if (/^[xy]axis\d*$/.test(key)) made[key] = dressedAxis(layout[key]);
  return made;
}

/* Colours by the logarithm; what is told on hover stays the value. */
function logColoured(trace) {
  const { logColours, ...rest } = trace;
  if (!logColours) return rest;
  return { ...rest, customdata: trace.z, z: trace.z.map((row) => row.map((value) => value && Math.log10(value))) };
}

class Picture {
  constructor(figure) {
    this.figure = figure;
    this.views = JSON.parse(figure.querySelector("script").textContent);
    this.place = figure.querySelector(".interactive");
    this.still = figure.querySelector(".static");
    this.choice = figure.querySelector("select");
    this.drawn = false;
    this.choice?.addEventListener("change", () => this.draw());
    figure.closest("details")?.addEventListener("toggle", () => this.drawOnce());
  }

  get visible() {
    return !this.figure.closest("details:not([open])");
  }

  drawOnce() {
    if (this.visible && !this.drawn && window.Plotly) this.draw();
  }

  async draw() {
    this.drawn = true;
    this.show(true);
    const { data, layout } = this.views[this.choice?.selectedIndex ?? 0].figure;
    const made = dressed(layout, this.place.clientWidth < NARROW_PX);
    try {
      await Plotly.react(this.place, data.map(logColoured), made, CONFIGURATION);
    } catch (error) {
      this.show(false);
      throw error;
    }
  }

  show(interactive) {
    this.place.hidden = !interactive;
    this.still.hidden = interactive;
    this.figure.querySelector(".views").hidden = !interactive;
  }
}

const pictures = [...document.querySelectorAll("figure")].filter((each) => each.querySelector("script"))
  .map((each) => new Picture(each));

function loadPlotly() {
  const script = document.createElement("script");
  script.src = "plotly.min.js";
  script.addEventListener("load", async () => {
    for (const picture of pictures) {
      picture.drawOnce();
      await new Promise((resolve) => setTimeout(resolve));
    }
    document.documentElement.dataset.drawn = "all";
  });
  script.addEventListener("error", () => {
    document.querySelector(".notice").hidden = false;
    document.documentElement.dataset.drawn = "still";
  });
  document.head.append(script);
}

if (pictures.length) loadPlotly();

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const picture of pictures) if (picture.drawn) picture.draw();
});

addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
