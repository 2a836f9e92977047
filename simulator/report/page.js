"use strict";

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
  const rows = [...body.rows].sort((one, two) => {
    const left = valueOf(one, column, numeric), right = valueOf(two, column, numeric);
    if (left === null || right === null) return (left === null) - (right === null);
    return direction * compare(left, right);
  });
  body.append(...rows);
}

for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.addEventListener("click", () => sortBy(button.parentElement));
}

addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
