"""The calls that the import page's script makes."""

from __future__ import annotations

import io
import re
from typing import Any

from tests.web.conftest import Browser
from tests.web.page_forms import sent_by

TABLE = b"id,text,priority,due,requires\na,one,10,2026-12-01,fr\nb,two,,,\nc,three,high,,\n"
PIECE = {"X-Leaseq-Piece": "state"}


def look(boss: Browser, base: str, data: bytes, name: str = "rows.csv", **fields: Any) -> Any:
    piece = (io.BytesIO(data), "piece")
    sent = {"name": name, "whole": "yes", "piece": piece, **fields}
    return boss.post(f"{base}/look", sent, page=base)


def chosen(answer: Any) -> dict[str, Any]:
    """What the look's fields would send."""
    page = f'<form id="x">{answer.text}</form>'
    fields: dict[str, Any] = sent_by(page, "x")
    fields["column"] = re.findall(r'name="column"[^>]* value="([^"]*)" checked', answer.text)
    return fields


def send(boss: Browser, base: str, data: bytes, name: str = "rows.csv", **fields: Any) -> Any:
    to = boss.post(f"{base}/plan", {"name": name, **fields}, page=base).json["to"]
    return to, stream(boss, base, to, data)


def stream(boss: Browser, base: str, to: str, data: bytes) -> Any:
    headers = {"X-CSRFToken": boss.csrf(base), **PIECE}
    return boss.client.post(to, data=data, content_type="application/octet-stream", headers=headers)
