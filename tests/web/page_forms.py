"""What a browser would send of a page's form, as it stands."""

from __future__ import annotations

from html.parser import HTMLParser


class _Fields(HTMLParser):
    def __init__(self, form: str) -> None:
        super().__init__()
        self._form = form
        self._inside = False
        self._text: str | None = None
        self._select: str | None = None
        self.fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name = attributes.get("name")
        if tag == "form":
            self._inside = attributes.get("id") == self._form
        elif not self._inside:
            return
        elif tag == "textarea" and name:
            self._text, self.fields[name] = name, ""
        elif tag == "select" and name:
            self._select = name
        elif (
            tag == "option" and self._select and ("selected" in attributes or self._select not in self.fields)
        ):
            self.fields[self._select] = attributes.get("value") or ""
        elif tag == "input" and name and _sends(attributes):
            self.fields[name] = attributes.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        self._text = None if tag == "textarea" else self._text
        self._select = None if tag == "select" else self._select

    def handle_data(self, data: str) -> None:
        if self._text:
            text = self.fields[self._text] + data
            self.fields[self._text] = text


def _sends(attributes: dict[str, str | None]) -> bool:
    kind = attributes.get("type")
    return kind not in ("file", "submit") and (kind not in ("radio", "checkbox") or "checked" in attributes)


def form_fields(page: str, form: str) -> dict[str, str]:
    """Name to text. A text area's first line end is not part of it."""
    parser = _Fields(form)
    parser.feed(page)
    return {name: text.removeprefix("\n") for name, text in parser.fields.items()}
