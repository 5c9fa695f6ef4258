"""The fields that a browser would send for an unchanged form of a page."""

from __future__ import annotations

from html.parser import HTMLParser


class _FieldParser(HTMLParser):
    def __init__(self, form_id: str) -> None:
        super().__init__()
        self._form_id = form_id
        self._is_inside = False
        self._text_name: str | None = None
        self._select_name: str | None = None
        self.fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name = attributes.get("name")
        if tag == "form":
            self._is_inside = attributes.get("id") == self._form_id
        elif not self._is_inside:
            return
        elif tag == "textarea" and name:
            self._text_name, self.fields[name] = name, ""
        elif tag == "select" and name:
            self._select_name = name
        elif (
            tag == "option"
            and self._select_name
            and ("selected" in attributes or self._select_name not in self.fields)
        ):
            self.fields[self._select_name] = attributes.get("value") or ""
        elif tag == "input" and name and _is_sent(attributes):
            self.fields[name] = attributes.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = self._is_inside and tag != "form"
        self._text_name = None if tag == "textarea" else self._text_name
        self._select_name = None if tag == "select" else self._select_name

    def handle_data(self, data: str) -> None:
        if self._text_name:
            text = self.fields[self._text_name] + data
            self.fields[self._text_name] = text


def _is_sent(attributes: dict[str, str | None]) -> bool:
    kind = attributes.get("type")
    return kind not in ("file", "submit") and (kind not in ("radio", "checkbox") or "checked" in attributes)


def form_fields(page: str, form_id: str) -> dict[str, str]:
    """Return the text of each field by name. The first line end of a text area is not part of it."""
    parser = _FieldParser(form_id)
    parser.feed(page)
    return {name: text.removeprefix("\n") for name, text in parser.fields.items()}
