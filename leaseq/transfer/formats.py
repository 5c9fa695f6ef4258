"""The file formats, and how a file name selects one."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, TypeAlias, get_args

from leaseq.errors import Invalid

Format: TypeAlias = Literal["csv", "tsv", "json", "jsonl", "xlsx"]
FORMATS: tuple[Format, ...] = get_args(Format)
TEXT_TABLES: tuple[Format, ...] = ("csv", "tsv")
TABLES: tuple[Format, ...] = (*TEXT_TABLES, "xlsx")
MAX_COLUMNS = 16_384  # of a table: the limit of common spreadsheets; it also bounds the memory for one

CONTENT_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8; header=present",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
}


def format_of(name: str) -> Format:
    """The format that matches a file name's ending. Raises Invalid if there is none."""
    ending = PurePath(name).suffix.lower()
    choices = ", ".join(FORMATS)
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if (description := foreign(name)) is not None:
        raise Invalid("format", f"one of {choices}", f"{name!r} is {description}")
    fault = (
        f"the file name {name!r} ends with none of {', '.join(_ENDINGS)}: name the format, one of {choices}"
    )
    raise Invalid("format", f"one of {choices}", fault)


def columns_fault(count: int) -> str:
    """Why a row with more than MAX_COLUMNS cells is bad."""
    return f"a row of at most {MAX_COLUMNS:,} columns expected, got {count:,}"


_SHEET = "a spreadsheet: save it as xlsx or as CSV (UTF-8) there, and import that file"
_FOREIGN = {
    ".xlsm": _SHEET,
    ".xls": _SHEET,
    ".ods": _SHEET,
    ".numbers": _SHEET,
    ".parquet": "a Parquet file: write it as JSONL, with duckdb for instance: "
    "COPY (FROM 'rows.parquet') TO 'rows.jsonl' (FORMAT json)",
}


def foreign(name: str) -> str | None:
    """A description of a file that is in none of the formats, such as an old spreadsheet, and what to do
    instead; None for other files."""
    if "://" in name:
        return "a URL, which is not fetched: pipe it in, curl -fsS URL | leaseq import QUEUE - --format csv"
    return _FOREIGN.get(PurePath(name).suffix.lower())
