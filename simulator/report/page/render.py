"""A page as the text of one HTML file, and plotly.js beside it.

The page asks for nothing but `plotly.min.js` in its own folder; without it, and without scripts at all, it shows the
pictures that it holds. Everything a user may have named passes through the template's escaping; what goes into a
script is JSON in which no tag can begin or end.
"""

import base64
import json
import shutil
from pathlib import Path

from simulator.errors import UserError
from simulator.files import replace_file
from simulator.report.headline import INTRODUCTION
from simulator.report.page.content import Page, Picture
from simulator.report.page.words import flowing

PARTS = Path(__file__).parent
SCRIPT = "plotly.min.js"


def write_page(page: Page, path: Path) -> None:
    """Write the page, and plotly.js into its folder when it is not there. Raises UserError."""
    replace_file(path, html(page))
    put_script(path.parent)


def html(page: Page) -> str:
    """The page's text; equal pages give equal bytes."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PARTS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["flowing"] = flowing
    return environment.get_template("template.html").render(
        page=page,
        introduction=INTRODUCTION,
        style=Markup((PARTS / "style.css").read_text(encoding="utf-8")),
        script=Markup((PARTS / "script.js").read_text(encoding="utf-8")),
        views=lambda picture: Markup(views_json(picture)),
    )


def views_json(picture: Picture) -> str:
    """A picture's views as JSON that may stand inside a script element."""
    views = [{"label": view.label, "figure": view.figure} for view in picture.views]
    text = json.dumps(views, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def put_script(folder: Path) -> None:
    """Copy the plotly.js of the installed plotly package into a folder that has not got it. Raises UserError."""
    source, target = script_source(), folder / SCRIPT
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    partial = target.with_name(f"{SCRIPT}.partial")
    try:
        shutil.copyfile(source, partial)
        partial.replace(target)
    except OSError as error:
        raise UserError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def script_source() -> Path:
    """Where the installed plotly package keeps plotly.js; found without importing it."""
    from importlib.util import find_spec

    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise UserError("plotly is not installed: pip install plotly")
    return Path(spec.origin).parent / "package_data" / SCRIPT


def data_uri(svg: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"
