"""Writes the rejected rows of an import as a file that can be corrected and imported.

They are as they were, in the format of the import, each with its line and the reason: in a table in two
columns before its own, which are no part of the row when the file is imported; in JSON in an object around
the row, or around its text where that is no JSON.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from leaseq.models import Json
from leaseq.transfer.cells import compact_json
from leaseq.transfer.delimiters import splits_of
from leaseq.transfer.formats import Format
from leaseq.transfer.rows import BadRow

REJECTED = ["rejected_line", "rejected_reason"]
_GROUPED = re.compile(r"(?<=\d),(?=\d{3})")  # the commas of 1,000,000


class Rejects:
    """Writes each bad row that `add` is given; ``head`` of a table: `Rows.head`. `close` ends the file.
    ``count``: the rows that were written.
    """

    def __init__(self, stream: BinaryIO, format: Format) -> None:
        self._stream = stream
        self._format = format
        self._delimiter: str | None = None
        self.count = 0

    def add(self, row: BadRow, head: tuple[bytes, str] | None) -> None:
        if self._format in ("csv", "tsv"):
            if head is None:  # the table has no header that could be read, and no row was
                return
            self._add_to_table(row, *head)
        else:
            separator = b"" if self._format == "jsonl" else b",\n" if self.count else b"[\n"
            end = b"\n" if self._format == "jsonl" else b""
            self._stream.write(separator + compact_json(_reject_shape(row)).encode(errors="replace") + end)
        self.count += 1

    def close(self) -> None:
        if self._format == "json":
            self._stream.write(b"\n]\n" if self.count else b"[]\n")

    def _add_to_table(self, row: BadRow, header: bytes, delimiter: str) -> None:
        if self._delimiter is None:
            self._delimiter = delimiter
            first_line = delimiter.join((*REJECTED, "")).encode() + _line(header)
            if splits_of(first_line, self._format) != (delimiter,):
                self._stream.write(f"sep={delimiter}\r\n".encode())
            self._stream.write(first_line)
        # Not in quotes, which are text where the import is told so: the delimiter may not stand in it.
        reason = _GROUPED.sub("", row.message) if delimiter == "," else row.message
        reason = reason.replace(delimiter, ";" if delimiter != ";" else ",").replace('"', "'")
        start = delimiter.join((str(row.line), " ".join(reason.split()), ""))
        self._stream.write(start.encode(errors="replace") + _line(row.raw or b""))


def original_row(value: Json) -> tuple[Json] | bytes | None:
    """What stood in a row of JSON that `Rejects` wrote: the row in a tuple, or its text that was no JSON;
    None: another row."""
    if not isinstance(value, dict) or len(value) != len(REJECTED) + 1 or list(value)[:2] != REJECTED:
        return None
    if "row" in value:
        return (value["row"],)
    text = value.get("text")
    return text.encode(errors="surrogatepass") if isinstance(text, str) else None


def _reject_shape(row: BadRow) -> dict[str, Json]:
    # Of a row that is too long, or where the array itself is broken, nothing was kept: no text is no row.
    is_json = row.raw is None and row.value is not None
    row_fields: dict[str, Json] = {"row": row.value} if is_json else {"text": _text(row.raw)}
    return {**dict(zip(REJECTED, (row.line, row.message), strict=True)), **row_fields}


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace").strip()


def _line(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\r\n"
