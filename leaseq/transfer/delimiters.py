"""Detects a table's delimiter by its first lines; an ambiguous one is refused, not guessed."""

from __future__ import annotations

import re

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
NAMES = {mark: name for name, mark in DELIMITERS.items()}

_QUOTED = re.compile(rb'(?<![^,;|\t\r\n])"(?:[^"]|"")*"')  # a quote within a cell is a character like any
_SEP = re.compile(rb"sep=(.?)\r?\n?", re.IGNORECASE)


def count_of(header: bytes, delimiter: str, *, quoted: bool = True) -> int:
    """The number of delimiters in a header; where quotes enclose cells (``quoted``), outside of them."""
    return (_QUOTED.sub(b"", header) if quoted else header).count(delimiter.encode())


def splits_of(header: bytes, format: str, *, quoted: bool = True) -> tuple[str, ...]:
    """The possible delimiters of a table by its header: several where it is ambiguous.

    A header without its format's own delimiters has one column. Where it has another delimiter instead, it
    may as well be a table of that one.
    """
    delimiters = tuple(mark for mark in NAMES if count_of(header, mark, quoted=quoted))
    if format == "tsv":
        return ("\t",) if "\t" in delimiters else (*delimiters, "\t")
    return tuple(mark for mark in delimiters if mark != "|") or (*delimiters, ",")


def separator_of(line: bytes) -> str | None:
    """The delimiter that a line ``sep=;`` names, as spreadsheets write it before the header.

    "" where it names none, None where it is no such line.
    """
    match = _SEP.fullmatch(line)
    return match[1].decode("latin-1") if match else None
