"""What splits the columns of a table: told by its header, and never guessed where it may be either of two."""

from __future__ import annotations

import re

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
NAMES = {mark: name for name, mark in DELIMITERS.items()}

_QUOTED = re.compile(rb'(?<![^,;\t\r\n])"(?:[^"]|"")*"')  # a quote within a cell is a character like any


def count_of(header: bytes, delimiter: str) -> int:
    """How often it stands in a header, outside quotes."""
    return _QUOTED.sub(b"", header).count(delimiter.encode())


def splits_of(header: bytes) -> tuple[str, ...]:
    """The delimiters that a table's first line has, outside quotes; a comma where it has none of them."""
    return tuple(mark for mark in NAMES if count_of(header, mark)) or (",",)
