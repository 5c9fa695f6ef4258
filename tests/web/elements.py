"""The elements of a page, found by CSS selectors in what a parser made of it."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode


def elements(page: str | LexborNode, selector: str) -> list[LexborNode]:
    """The elements that match, in the order of the page, or of an element of it."""
    return (LexborHTMLParser(page) if isinstance(page, str) else page).css(selector)


def element(page: str | LexborNode, selector: str) -> LexborNode:
    """The only element that matches."""
    found = elements(page, selector)
    assert len(found) == 1, f"{len(found)} elements match {selector}"
    return found[0]


def text_of(page: str | LexborNode) -> str:
    """The text of a page's main part, or of an element, as its reader sees it: with single spaces."""
    node = element(page, "main") if isinstance(page, str) else page
    for script in node.css("script, style"):
        script.remove()
    return " ".join(node.text(separator=" ").split())


def texts(page: str | LexborNode, selector: str) -> list[str]:
    """The text of each element that matches."""
    return [text_of(node) for node in elements(page, selector)]


def attributes(page: str | LexborNode, selector: str, name: str) -> list[str]:
    """The attribute of each element that matches; '' for an attribute without a value."""
    return [node.attributes[name] or "" for node in elements(page, selector)]


def attribute(page: str | LexborNode, selector: str, name: str) -> str:
    """The attribute of the only element that matches."""
    return element(page, selector).attributes[name] or ""


def link(page: str | LexborNode, label: str) -> str:
    """The address of the first link with this text."""
    return next(node.attributes["href"] or "" for node in elements(page, "a") if text_of(node) == label)


def listed_ids(page: str) -> list[str]:
    """The ids of the items that a list offers to choose."""
    return attributes(page, "input[type=checkbox][name=id]", "value")


def times_as_t(page: str) -> LexborNode:
    """A page, or a part of one, with T for each time."""
    body = element(page, "body")
    for node in body.css("time"):
        node.replace_with("T")
    return body


def table_rows(page: str | LexborNode) -> list[list[str]]:
    """The texts of the cells of a page's tables."""
    return [texts(row, "th, td") for row in elements(page, "tr")]


def form_fields(page: str, form_id: str) -> dict[str, str]:
    """What a browser would send for the unchanged form: the text of each field by name."""
    fields: dict[str, str] = {}
    for field in elements(page, f"form#{form_id} :is(input, select, textarea)[name]"):
        name, kind = field.attributes["name"] or "", field.attributes.get("type")
        if field.tag == "textarea":
            fields[name] = field.text()
        elif field.tag == "select":
            options = field.css("option")
            for option in [one for one in options if "selected" in one.attributes] or options[:1]:
                fields[name] = option.attributes.get("value") or ""
        elif kind not in ("file", "submit") and (
            kind not in ("radio", "checkbox") or "checked" in field.attributes
        ):
            fields[name] = field.attributes.get("value") or ""
    return fields
