"""The elements of a JSON array of any length, with one element in memory at a time.

The splitter only follows strings and brackets. Each element's text is then decoded separately, so a bad
element is reported with its line and the elements after it are still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid
from leaseq.transfer.encodings import BOM, MAX_ROW_BYTES, TOO_LONG
from leaseq.transfer.rows import BadRow

CHUNK = 65_536

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")


@dataclass(frozen=True, slots=True)
class Element:
    line: int  # where it begins
    text: bytes


class _Splitter:
    """A window on the stream, and the current depth inside the element."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._window = b""
        self._at = 0  # the window has been scanned up to here
        self._start = 0  # the current element begins here
        self._depth = 0
        self._in_string = False
        self._too_long = False
        self._read_more()
        self._window = self._window.removeprefix(BOM)
        self.line = 1  # of _start

    def _read_more(self) -> bool:
        """Drop what was consumed, and read more; returns whether there was more."""
        if self._at - self._start > MAX_ROW_BYTES:
            self._too_long = True
            self._consume(self._at)
        chunk = self._stream.read(CHUNK)
        self._window = self._window[self._start :] + chunk
        self._at -= self._start
        self._start = 0
        return bool(chunk)

    def _consume(self, end: int) -> None:
        self.line += self._window.count(b"\n", self._start, end)
        self._start = end

    def skip_space(self) -> bytes:
        """Skip to the next byte that is not white space, and return it, or b"" at the end of the stream."""
        while True:
            match = _NOT_SPACE.search(self._window, self._at)
            self._at = match.start() if match else len(self._window)
            self._consume(self._at)
            if match or not self._read_more():
                return match.group() if match else b""

    def skip_byte(self) -> None:
        self._at += 1

    def element(self) -> tuple[Element | BadRow, bytes]:
        """Read up to the next comma or bracket of the array; returns the element and that byte (b"" at the
        end of the stream)."""
        self._depth, self._too_long = 0, False
        self.skip_space()
        line = self.line
        end = self._end_of_element()
        text = self._window[self._start : self._at]
        if self._too_long or len(text) > MAX_ROW_BYTES:
            return BadRow(line, TOO_LONG), end
        return Element(line, text), end

    def _end_of_element(self) -> bytes:
        while True:
            checkpoint()
            end = self._step()
            if end:
                return end
            if self._at >= len(self._window) and not self._read_more():
                return b""

    def _step(self) -> bytes:
        """Scan to the next significant byte; returns that byte if it ends the element, else b""."""
        if self._in_string:
            self._leave_string()
            return b""
        match = _OUTSIDE.search(self._window, self._at)
        if match is None:
            self._at = len(self._window)
            return b""
        byte = match.group()
        self._at = match.start()
        if self._depth == 0 and byte in (b",", b"]"):
            return byte
        if byte == b'"':
            string_match = _STRING.match(self._window, self._at)
            self._in_string = string_match is None
            self._at = string_match.end() if string_match else self._at + 1
            return b""
        self._depth += (byte in b"[{") - (byte in b"]}")
        self._at += 1
        return b""

    def _leave_string(self) -> None:
        match = _INSIDE.search(self._window, self._at)
        if match is None:
            self._at = len(self._window)
        elif match.group() == b'"':
            self._at = match.end()
            self._in_string = False
        elif match.end() < len(self._window):
            self._at = match.end() + 1  # past the escaped character
        elif self._read_more():
            self._leave_string()
        else:
            self._at = len(self._window)


def elements(stream: BinaryIO) -> Iterator[Element | BadRow]:
    """Yield each element of the JSON array in ``stream``, its text not yet decoded."""
    splitter = _Splitter(stream)
    if splitter.skip_space() != b"[":
        yield BadRow(splitter.line, Invalid("row", "row", what="array"))
        return
    splitter.skip_byte()
    end = splitter.skip_space()
    if end == b"]":
        splitter.skip_byte()
    while end != b"]":
        element, end = splitter.element()
        if not end:
            yield BadRow(element.line, Invalid("row", "row", what="array_end"))
            return
        splitter.skip_byte()
        yield element
    if splitter.skip_space():
        yield BadRow(splitter.line, Invalid("row", "row", what="after_array"))
