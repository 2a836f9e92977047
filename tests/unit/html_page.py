"""A page as a browser would see it, read without one."""

import json
from html.parser import HTMLParser

VOID = ("meta", "link", "img", "input")


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, the text inside each, and whether tags close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.views: list[list[dict]] = []  # of each interactive picture
        self.scripts: list[str] = []  # that run
        self.tables: list[tuple[str, list[list[str]]]] = []  # captions and values
        self.feed(text.replace("<wbr>", ""))  # where a line may break is not to be read
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag == "caption":
            self.tables.append(("", []))
        if tag == "tr" and "tbody" in self.open:
            self.tables[-1][1].append([])
        if tag in ("td", "th") and "tbody" in self.open:
            self.tables[-1][1][-1].append(dict(attributes)["data-value"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.keep_script(dict(self.elements)["script"], data)
        if "caption" in self.open:
            self.tables[-1] = (self.tables[-1][0] + data, self.tables[-1][1])
        for tag in set(self.open):
            self.texts.setdefault(tag, []).append(data)

    def keep_script(self, attributes: dict[str, str | None], data: str) -> None:
        if attributes.get("type") == "application/json":
            assert not set(data) & set("<>&")
            self.views.append(json.loads(data))
        else:
            self.scripts.append(data)

    def rows(self, caption: str) -> list[list[str]]:
        """The cells' values, row by row, of the table whose caption begins so."""
        (found,) = [rows for name, rows in self.tables if name.startswith(caption)]
        return found

    def figure(self, *, of: int = 0, view: int = 0) -> dict:
        """What plotly.js is given for a view of a picture."""
        return self.views[of][view]["figure"]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> str:
        return " ".join("".join(self.texts.get(tag, [])).split())
