"""What a browser would send of a page's form, as it stands."""

from __future__ import annotations

from html.parser import HTMLParser


class _Fields(HTMLParser):
    def __init__(self, form: str) -> None:
        super().__init__()
        self._wanted = form
        self._inside = False
        self._text: str | None = None
        self._select: str | None = None
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name")
        if tag == "form":
            self._inside = given.get("id") == self._wanted
        elif not self._inside:
            return
        elif tag == "textarea" and name:
            self._text, self.found[name] = name, ""
        elif tag == "select" and name:
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or self._select not in self.found):
            self.found[self._select] = given.get("value") or ""
        elif tag == "input" and name and _sends(given):
            self.found[name] = given.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        self._text = None if tag == "textarea" else self._text
        self._select = None if tag == "select" else self._select

    def handle_data(self, data: str) -> None:
        if self._text:
            text = self.found[self._text] + data
            self.found[self._text] = text


def _sends(given: dict[str, str | None]) -> bool:
    kind = given.get("type")
    return kind not in ("file", "submit") and (kind not in ("radio", "checkbox") or "checked" in given)


def sent_by(page: str, form: str) -> dict[str, str]:
    """Name to text. A text area's first line end is not part of it."""
    parser = _Fields(form)
    parser.feed(page)
    return {name: text.removeprefix("\n") for name, text in parser.found.items()}
