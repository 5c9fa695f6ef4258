"""Helpers that read lists of items or people on a page."""

from __future__ import annotations

import html
import re


def listed_ids(page: str) -> list[str]:
    return re.findall(r'type="checkbox" name="id" value="([^"]+)"', page)


def text_of(page: str) -> str:
    main = re.sub(r"<(script|style).*?</\1>", "", page.partition("<main")[2], flags=re.DOTALL)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))


def table_text(page: str) -> str:
    """The text of a page's tables, in lines."""
    cells = re.sub(r"</(th|td)>", "|", "".join(re.findall(r"<tr\b.*?</tr>", page, re.S)))
    return re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", cells.replace("</tr>", "\0"))).replace("\0", "\n")
