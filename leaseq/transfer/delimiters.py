"""Detects a table's delimiter from its first lines. If it is ambiguous, it is refused, not guessed."""

from __future__ import annotations

import re

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
NAMES = {mark: name for name, mark in DELIMITERS.items()}

_QUOTED = re.compile(rb'(?<![^,;|\t\r\n])"(?:[^"]|"")*"')  # a quote inside a cell is an ordinary character
_SEP = re.compile(rb"sep=(.?)\r?\n?", re.IGNORECASE)


def count_of(header: bytes, delimiter: str, *, quoted: bool = True) -> int:
    """The number of delimiters in a header; if quotes enclose cells (``quoted``), of those outside quotes."""
    return (_QUOTED.sub(b"", header) if quoted else header).count(delimiter.encode())


def splits_of(header: bytes, format: str, *, quoted: bool = True) -> tuple[str, ...]:
    """The possible delimiters of a table, from its header: several if it is ambiguous.

    A header without its format's own delimiters has one column, unless it contains another delimiter: then
    it may also be a table with that one.
    """
    delimiters = tuple(mark for mark in NAMES if count_of(header, mark, quoted=quoted))
    if format == "tsv":
        return ("\t",) if "\t" in delimiters else (*delimiters, "\t")
    return tuple(mark for mark in delimiters if mark != "|") or (*delimiters, ",")


def separator_of(line: bytes) -> str | None:
    """The delimiter in a line such as ``sep=;``, which spreadsheets write before the header.

    "" if the line names none, None if it is not such a line.
    """
    match = _SEP.fullmatch(line)
    return match[1].decode("latin-1") if match else None
