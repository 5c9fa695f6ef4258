"""The four file formats, and how a file name selects one."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, TypeAlias, get_args

from leaseq.errors import Invalid

Format: TypeAlias = Literal["csv", "tsv", "json", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)

CONTENT_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8; header=present",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
}

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def format_of(name: str) -> Format:
    """The format that a file name's ending means, or Invalid."""
    ending = PurePath(name).suffix.lower()
    if ending not in _ENDINGS:
        raise Invalid(
            "format",
            f"one of {', '.join(FORMATS)}",
            f"the name {name!r} does not tell the format: name one of {', '.join(FORMATS)}",
        )
    return _ENDINGS[ending]
