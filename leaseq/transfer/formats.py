"""The four file formats, and how a file name selects one."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, TypeAlias, get_args

from leaseq.errors import Invalid

Format: TypeAlias = Literal["csv", "tsv", "json", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
TEXT_TABLES: tuple[Format, ...] = ("csv", "tsv")

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
    """The format that matches a file name's ending. Raises Invalid if there is none."""
    ending = PurePath(name).suffix.lower()
    if (description := foreign(name)) is not None:
        raise Invalid("format", f"one of {', '.join(FORMATS)}", f"{name!r} is {description}")
    if ending not in _ENDINGS:
        raise Invalid(
            "format",
            f"one of {', '.join(FORMATS)}",
            f"the file name {name!r} ends with none of {', '.join(_ENDINGS)}: name the format, one of "
            f"{', '.join(FORMATS)}",
        )
    return _ENDINGS[ending]


_SHEET = "a spreadsheet: save the sheet as CSV (UTF-8) there, and import that file"
_FOREIGN = {
    ".xlsx": _SHEET,
    ".xlsm": _SHEET,
    ".xls": _SHEET,
    ".ods": _SHEET,
    ".numbers": _SHEET,
    ".parquet": "a Parquet file: write it as JSONL, with duckdb for instance: "
    "COPY (FROM 'rows.parquet') TO 'rows.jsonl' (FORMAT json)",
}


def foreign(name: str) -> str | None:
    """A description of a file that leaseq doesn't read, such as a spreadsheet, and what to do instead; None
    for other files."""
    if "://" in name:
        return "a URL, which is not fetched: pipe it in, curl -fsS URL | leaseq import QUEUE - --format csv"
    return _FOREIGN.get(PurePath(name).suffix.lower())
