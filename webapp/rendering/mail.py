"""HTML mail in payloads, as the body of a document for a sandboxed frame, in which nothing is loaded or run.

What remains are elements that structure text, without their styles. A picture that is not part of the mail is
replaced by a note. Links can't be followed in the frame: they are numbered, and listed below it with their
addresses, which a mail likes to hide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from html import escape

import nh3
from flask_babel import gettext as _
from markupsafe import Markup

from leaseq import Json
from leaseq.webapp.rendering.media import INLINE_PICTURE
from leaseq.webapp.serving.time_slices import run_beside

MAX_LINKS = 200
MAX_ELEMENTS = 10_000
MAX_OPEN = 200  # elements in each other; the sanitizer's time grows with their square
MAX_OPEN_STYLES = 20  # such as <b>, each of which is opened again in all later paragraphs
_SHORT = 2_000  # characters: they take at most 20 ms
_SHORT_MAIL = 600  # characters of HTML

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_EMPTY = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    )
)
_CLOSED_BY_NEXT = frozenset(
    ("p", "td", "th", "tr", "dt", "dd", "option", "thead", "tbody", "tfoot", "colgroup")
)
_STYLES = frozenset(
    ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
)
_TAGS = (nh3.ALLOWED_TAGS | {"font", "section", "article"}) - {"map", "area"}
_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align"},
    "ol": {"start"},
    **{name: {"dir", "lang"} for name in ("div", "p", "span", "table", "bdo", "blockquote")},
}
_PICTURE = re.compile(r'<img((?: [a-z]+="[^"]*")*)>')
_ALT, _SOURCE = re.compile(r' alt="([^"]*)"'), re.compile(r' src="data:image/')


@dataclass(frozen=True, slots=True)
class Mail:
    body: Markup  # for a document that loads our style sheets only
    is_short: bool  # the frame can't know the height of what it shows
    links: tuple[str, ...]  # the addresses, in the order of their numbers


def mail_of(value: Json) -> Mail | None:
    """The mail with this HTML; None if this is no text, or so nested that cleaning it would take long."""
    if not isinstance(value, str) or _is_excessive(value):
        return None
    links: list[str] = []
    clean = partial(_clean, value, links)
    html = clean() if len(value) < _SHORT else run_beside(clean)
    body = Markup(_PICTURE.sub(_picture_or_note, html))  # noqa: S704  # nh3 sanitized it
    return Mail(body, len(html) <= _SHORT_MAIL, tuple(links))


def _is_excessive(html: str) -> bool:
    """Whether the HTML has too many elements, or too many in each other."""
    open_counts: dict[str, int] = {}
    count = depth = styles = 0
    for match in _TAG.finditer(html):
        name = match[2].lower()
        if name in _EMPTY or name in _CLOSED_BY_NEXT:
            count += 1
            continue
        step = -1 if match[1] else 1
        if step < 0 and not open_counts.get(name):
            continue
        open_counts[name] = open_counts.get(name, 0) + step
        count += 1
        depth += step
        styles += step if name in _STYLES else 0
        if depth > MAX_OPEN or styles > MAX_OPEN_STYLES:
            return True
    return count > MAX_ELEMENTS


def _clean(html: str, links: list[str]) -> str:
    """The HTML without what could run, load or cover anything. The links' addresses go to `links`."""

    def keep(tag: str, attribute: str, value: str) -> str | None:
        if tag == "img" and attribute == "src":
            return value if INLINE_PICTURE.fullmatch(value) else None
        if tag != "a":
            return value
        if not value.lower().startswith(("http://", "https://", "mailto:")) or len(links) >= MAX_LINKS:
            return None
        links.append(value)
        return f"#{len(links)}"

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=keep,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel=None,
        strip_comments=True,
    )


def _picture_or_note(match: re.Match[str]) -> str:
    if _SOURCE.search(match[1]):
        return match[0]
    alt = _ALT.search(match[1])
    note = escape(_("Picture not loaded"))
    return f'<span class="picture">{note}{f": {alt[1]}" if alt and alt[1].strip() else ""}</span>'
