"""Decodes files that are gzipped or not UTF-8 into plain UTF-8, and gzips files that are written."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from encodings.aliases import aliases
from typing import BinaryIO, Protocol

from leaseq.errors import Invalid
from leaseq.suggestions import did_you_mean
from leaseq.transfer.lines import check_binary

CHUNK = 65_536
GZIP = b"\x1f\x8b"  # the first bytes of a gzipped file; UTF-8 text never begins with them
_NO_TEXT = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def without_gz(name: str) -> str:
    """The name of a file without the ending ``.gz``."""
    return name[: -len(".gz")] if name.lower().endswith(".gz") else name


def decoded(stream: BinaryIO, encoding: str | None = None) -> BinaryIO:
    """Return the text of ``stream`` as a stream of UTF-8, decompressed if it begins like a gzip file.

    ``encoding`` is Python's name of the stream's encoding; None: UTF-8. Raises Invalid if it is unknown.
    Reading from the result raises Invalid if gzipped data is damaged, and at a byte that is not valid in the
    encoding, with the line of that byte.
    """
    check_binary(stream, "rb")
    decoder = _decoder(encoding) if encoding is not None else None
    pieces = _unpacked(stream)
    return io.BufferedReader(_Pieces(pieces if decoder is None else _recoded(pieces, decoder, str(encoding))))


def gzipped(stream: BinaryIO) -> gzip.GzipFile:
    """Return a stream that writes gzipped data to ``stream``. The same text always gives the same bytes."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)


class _Pieces(io.RawIOBase):
    """A stream that consists of the given pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _chunks(stream: _Readable, first: bytes = b"") -> Iterator[bytes]:
    if first:
        yield first
    while chunk := stream.read(CHUNK):
        yield chunk


def _unpacked(stream: BinaryIO) -> Iterator[bytes]:
    first = stream.read(CHUNK)
    while len(first) < len(GZIP) and (chunk := stream.read(CHUNK)):
        first += chunk
    if not first.startswith(GZIP):
        yield from _chunks(stream, first)
        return
    try:
        with gzip.GzipFile(fileobj=io.BufferedReader(_Pieces(_chunks(stream, first)))) as file:
            yield from _chunks(file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Invalid("file", "whole", f"the file is gzipped, and damaged or cut off: {error}") from error


def _decoder(encoding: str) -> codecs.IncrementalDecoder | None:
    """The decoder; None for UTF-8, which is not decoded here, so that a bad byte only rejects its row."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # refuses codecs that don't decode text
        name, decoder = codecs.lookup(encoding).name, codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):
        name = ""
    if not name or name.replace("-", "_") in _NO_TEXT:
        limit = "a text encoding, such as cp1252, utf-16 or shift_jis"
        suggestion = did_you_mean(encoding.replace("-", "_"), _text_encodings())
        fault = f"{encoding!r} is not known" + (f", {suggestion}" if suggestion else "")
        raise Invalid("encoding", limit, f"encoding: {limit}; {fault}")
    return None if name in ("utf-8", "utf-8-sig") else decoder("strict")


def _text_encodings() -> set[str]:
    return {
        name
        for alias, codec in aliases.items()
        if not codec.endswith("_codec") and codec not in (*_NO_TEXT, "rot_13", "mbcs")
        for name in (alias, codec)
    }


def _recoded(pieces: Iterator[bytes], decoder: codecs.IncrementalDecoder, encoding: str) -> Iterator[bytes]:
    line = 1
    for piece, last in _mark_end(pieces):
        state = decoder.getstate()
        try:
            text = decoder.decode(piece, last)
        except UnicodeDecodeError as error:
            # The good bytes before it in this piece. error.object begins with bytes kept from earlier pieces.
            good_size = max(0, error.start - len(error.object) + len(piece))
            decoder.setstate(state)
            line += decoder.decode(piece[:good_size]).count("\n")
            byte = error.object[error.start]
            raise _wrong_encoding(
                f"line {line:,} has the byte 0x{byte:02x}, which is not valid {encoding} there"
            ) from error
        except UnicodeError as error:  # the byte order mark that the encoding needs is missing
            raise _wrong_encoding(f"the file is not {encoding}: {error}") from error
        line += text.count("\n")
        yield text.encode(errors="surrogatepass")


def _wrong_encoding(fault: str) -> Invalid:
    return Invalid("encoding", "the file's encoding", f"{fault}: name the encoding that the file has")


def _mark_end(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    yield b"", True
