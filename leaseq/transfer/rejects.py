"""Writes the rejected rows of an import to a file that can be corrected and imported.

The rows are unchanged, in the format of the import, each with its line and the reason. In a table, these are
in two columns before the others, which an import of the file ignores; in JSON, they are in an object around
the row, or around its text if that is not JSON.
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
    """Writes bad rows to a file. `add` writes a row; pass it `Rows.head`. `close` ends the file. ``count``
    is the number of rows written.
    """

    def __init__(self, stream: BinaryIO, format: Format) -> None:
        self._stream = stream
        self._format = format
        self._delimiter: str | None = None
        self.count = 0

    def add(self, row: BadRow, head: tuple[bytes, str] | None) -> None:
        if self._format in ("csv", "tsv"):
            if head is None:  # the header could not be read, so there are no rows
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
        # The reason isn't quoted, since an import may read quotes as text: it must not contain the delimiter.
        reason = _GROUPED.sub("", row.message) if delimiter == "," else row.message
        reason = reason.replace(delimiter, ";" if delimiter != ";" else ",").replace('"', "'")
        start = delimiter.join((str(row.line), " ".join(reason.split()), ""))
        self._stream.write(start.encode(errors="replace") + _line(row.raw or b""))


def original_row(value: Json) -> tuple[Json] | bytes | None:
    """The original of a JSON row that `Rejects` wrote: the row in a tuple, or its text if that was not JSON.
    None if `Rejects` did not write this row."""
    if not isinstance(value, dict) or len(value) != len(REJECTED) + 1 or list(value)[:2] != REJECTED:
        return None
    if "row" in value:
        return (value["row"],)
    text = value.get("text")
    return text.encode(errors="surrogatepass") if isinstance(text, str) else None


def _reject_shape(row: BadRow) -> dict[str, Json]:
    # Nothing was kept of a row that is too long, or if the array itself is broken: the text is then empty.
    is_json = row.raw is None and row.value is not None
    row_fields: dict[str, Json] = {"row": row.value} if is_json else {"text": _text(row.raw)}
    return {**dict(zip(REJECTED, (row.line, row.message), strict=True)), **row_fields}


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace").strip()


def _line(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\r\n"
