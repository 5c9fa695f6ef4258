"""What a list of items shows."""

from __future__ import annotations

import html
import re


def listed(page: str) -> list[str]:
    return re.findall(r'type="checkbox" name="id" value="([^"]+)"', page)


def text_of(page: str) -> str:
    main = re.sub(r"<(script|style).*?</\1>", "", page.partition("<main")[2], flags=re.DOTALL)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))
