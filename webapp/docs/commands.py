"""Curl commands for each call: one for each example of its body."""

from __future__ import annotations

import json
from shlex import quote
from typing import Any
from urllib.parse import quote as in_address

from leaseq.webapp.docs.reading import Call

BASE = "/api/v1"
_NARROW = 60
_FILES = {
    "application/x-ndjson": "items.jsonl",
    "text/csv": "items.csv",
    "text/tab-separated-values": "items.tsv",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "items.xlsx",
}


def commands(call: Call) -> list[str]:
    """The commands of a call; the top of the page explains how to set ``$LEASEQ`` and ``$TOKEN``."""
    parts = ["curl -s", *(["-N"] if _streams(call) else [])]
    if call.method != "GET":
        parts.append(f"-X {call.method}")
    start = " ".join([*parts, f'"$LEASEQ{_address(call)}"']), '-H "Authorization: Bearer $TOKEN"'
    return [" \\\n  ".join([*start, *body]) for body in _bodies(call)]


def _streams(call: Call) -> bool:
    return any("text/event-stream" in (answer.spec.get("content") or {}) for answer in call.answers)


def _address(call: Call) -> str:
    path, query = call.path.removeprefix(BASE), []
    for parameter in call.spec.get("parameters", ()):
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", in_address(parameter["example"], safe=""))
        elif parameter["in"] == "query" and parameter["required"]:
            query.append(f"{parameter['name']}={in_address(parameter['schema']['enum'][0])}")
    return path + ("?" + "&".join(query) if query else "")


def _bodies(call: Call) -> list[list[str]]:
    """The options of each command for its body; none if there is no body."""
    kinds = call.spec.get("requestBody", {}).get("content", {})
    bodies = []
    for kind, media in kinds.items():
        header = f"-H 'Content-Type: {kind}'"
        examples = (media.get("examples") or {}).values() if kind not in _FILES else ()
        bodies += [[header, f"-d {quote(_json(example['value']))}"] for example in examples]
        if not examples:
            bodies.append([header, f"--data-binary @{_FILES.get(kind, 'items.json')}"])
    return bodies or [[]]


def _json(value: Any) -> str:
    """JSON on one line if it fits."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _NARROW else json.dumps(value, ensure_ascii=False, indent=2)
