"""Headless Chromium, where there is one: opens a page with a probe in it and returns what the probe reports."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"),
    *("--proxy-server=127.0.0.1:9", "--host-resolver-rules=MAP * ~NOTFOUND"),  # the network is off
)
# Runs once every picture has been drawn or given up. What the page's policy forbids is a violation: all that is remote.
PROBE = """
<script>
const violations = [], errors = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.blockedURI));
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
addEventListener("load", async () => {
  while (document.querySelector("figure script") && !document.documentElement.dataset.drawn) await pause();
  await pause();
  const found = await (async () => { PROBE_BODY })();
  parent.postMessage(JSON.stringify({ ...found, violations, errors, window_width: innerWidth }), "*");
});
</script>
"""
# A window of headless Chromium is 500 pixels wide at least; a frame may be narrower.
FRAME = """<!DOCTYPE html><title>frame</title><pre id="probe"></pre>
<script>addEventListener("message", (event) => { document.getElementById("probe").textContent = event.data; });</script>
<iframe src="PAGE" style="width: WIDTHpx; height: 2000px; border: 0"></iframe>
"""


def browse(page: Path, profile: Path, *flags: str) -> tuple[str, list[str]]:
    """The page after its scripts ran, and what the console said."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *FLAGS,
        *flags,
        "--window-size=1600,2000",
        f"--user-data-dir={profile}",
        page.as_uri(),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return result.stdout, [line for line in result.stderr.splitlines() if "CONSOLE" in line]


def probed(page: Path, body: str, profile: Path, *flags: str, width: int = 1400) -> dict[str, Any]:
    """What the body of an async function returns that runs in the page in a window so wide, and `console`."""
    inner, frame = (page.with_name(f"_{name}_{width}.html") for name in ("probed", "frame"))
    probe = PROBE.replace("PROBE_BODY", body)
    inner.write_text(page.read_text(encoding="utf-8").replace("</main>", "</main>" + probe), encoding="utf-8")
    frame.write_text(FRAME.replace("WIDTH", str(width)).replace("PAGE", inner.name))
    dom, console = browse(frame, profile, *flags)
    found = re.search(r'<pre id="probe">(.+?)</pre>', dom, re.DOTALL)
    assert found, f"the probe did not finish: {console}"
    return {"width": width, "console": console, **json.loads(html.unescape(found[1]))}
