"""The encodings and line ends of text files."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from encodings.aliases import aliases
from itertools import chain
from typing import BinaryIO, Protocol

from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid, TooLarge
from leaseq.names import nearest
from leaseq.validation import MAX_JSON_BYTES

# A payload at its limit may be written with each character as \uXXXX and with white space around it.
MAX_ROW_BYTES = 8 * MAX_JSON_BYTES
TOO_LONG = TooLarge("row", "maximum", what="row_bytes", maximum=MAX_ROW_BYTES)

BOM = b"\xef\xbb\xbf"


def check_binary(stream: object, mode: str) -> None:
    """Refuse a stream of text."""
    if isinstance(stream, io.TextIOBase):
        raise Invalid("stream", "type", what="stream", mode=mode)


@dataclass(frozen=True, slots=True)
class Line:
    number: int  # from 1
    data: bytes  # with its line end; empty if the line is too long
    quotes: int  # the number of double quotes in the whole line
    too_long: bool = False


def lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield each line of ``stream``, without a byte order mark at the very beginning."""
    number = 0
    while data := stream.readline(MAX_ROW_BYTES):
        checkpoint()
        number += 1
        if number == 1:
            data = data.removeprefix(BOM)
        if len(data) < MAX_ROW_BYTES or data.endswith(b"\n"):
            yield Line(number, data, data.count(b'"'))
        else:
            yield Line(number, b"", data.count(b'"') + _skip_line(stream), too_long=True)


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line; returns the number of double quotes read."""
    quotes = 0
    while data := stream.readline(MAX_ROW_BYTES):
        checkpoint()
        quotes += data.count(b'"')
        if data.endswith(b"\n"):
            break
    return quotes


CHUNK = 65_536
GZIP = b"\x1f\x8b"  # the first bytes of a gzipped file; UTF-8 text never begins with them
_BYTE_ORDER_MARKS = (  # the longer ones first
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MARKS = '\n,"'  # what rows of text consist of, whatever their language
_NO_TEXT = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def without_gz(name: str) -> str:
    """The name of a file without the ending ``.gz``."""
    return name[: -len(".gz")] if name.lower().endswith(".gz") else name


def unpacked(stream: BinaryIO) -> io.BufferedReader:
    """The same stream, decompressed if it begins like a gzip file. Reading from the result raises Invalid if
    the data is damaged."""
    check_binary(stream, "rb")
    return io.BufferedReader(_Pieces(_unpacked(stream)))


def decoded(stream: BinaryIO, encoding: str | None = None, *, is_whole: bool = True) -> io.BufferedReader:
    """The text of ``stream`` as a stream of UTF-8. If its lines end with CR alone, they end with LF.

    ``encoding`` is Python's name of the stream's encoding. None: UTF-16 or UTF-32 if the first bytes show it,
    else UTF-8. Raises Invalid if it is unknown. Reading from the result raises Invalid at a byte that is not
    valid in the encoding, with the line of that byte; in UTF-8, which is not decoded here, such a byte only
    rejects its row. Unless ``is_whole``, the stream may end inside a character.
    """
    check_binary(stream, "rb")
    decoder = _decoder(encoding) if encoding is not None else None
    return io.BufferedReader(_Pieces(_decoded(stream, decoder, encoding, is_whole)))


def _decoded(
    stream: BinaryIO, decoder: codecs.IncrementalDecoder | None, encoding: str | None, is_whole: bool
) -> Iterator[bytes]:
    first = _first_chunk(stream)
    if encoding is None and (encoding := unicode_encoding_of(first)):
        decoder = _decoder(encoding)
    pieces = _chunks(stream, first)
    if decoder is not None:
        pieces = _recoded(pieces, decoder, str(encoding), is_whole)
    text = next(pieces, b"")
    # Whether an LF follows the first CR shows only once there is more text.
    while b"\r" in text and b"\n" not in text and (len(text) < CHUNK or text.endswith(b"\r")):
        following = next(pieces, b"")
        if not following:
            break
        text += following
    is_old_mac = b"\r" in text and b"\n" not in text
    for piece in chain((text,), pieces):
        yield piece.replace(b"\r", b"\n") if is_old_mac else piece


def unicode_encoding_of(first: bytes) -> str | None:
    """The encoding of text that begins with these bytes, if it is UTF-16 or UTF-32; else None."""
    for mark, name in _BYTE_ORDER_MARKS:
        if first.startswith(mark):
            return name
    # Without a byte order mark: each ASCII character is a NUL byte beside the character, always on one side.
    if 0 not in first:
        return None
    for side, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if 0 not in first[1 - side :: 2] and _is_utf_16(first, name):
            return name
    return None


def _is_utf_16(first: bytes, encoding: str) -> bool:
    """Whether the bytes are text in an encoding of two bytes: mostly ASCII, or rows in any script.

    In 8-bit text, a stray NUL looks like such an encoding, too, but makes at most one mark of a row. Several
    make more, but few of all marks; and other pairs of its bytes are characters from U+2000 upwards.
    """
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(first)
    except UnicodeDecodeError:
        return False
    if first.count(0) * 4 > len(first):
        return True
    marks, look_alikes = sum(map(text.count, _MARKS)), sum(first.count(mark.encode()) for mark in _MARKS)
    is_alphabetic = sum(character < "\u2000" for character in text) * 2 > len(text)
    return marks > 1 and (is_alphabetic or marks * 4 > look_alikes)


def rejoined(first: bytes, stream: BinaryIO) -> io.BufferedReader:
    """The stream with the bytes that were already read from it."""
    return io.BufferedReader(_Pieces(_chunks(stream, first)))


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
    read = getattr(stream, "read1", stream.read)  # what is there, without waiting for more
    if first:
        yield first
    while chunk := read(CHUNK):
        yield chunk


def _first_chunk(stream: BinaryIO) -> bytes:
    """The first bytes of a stream: as many as a byte order mark has, unless it has fewer."""
    read = getattr(stream, "read1", stream.read)
    first = bytes(read(CHUNK))
    while len(first) < len(codecs.BOM_UTF32_LE) and (chunk := read(CHUNK)):
        first += chunk
    return first


def _unpacked(stream: BinaryIO) -> Iterator[bytes]:
    first = _first_chunk(stream)
    if not first.startswith(GZIP):
        yield from _chunks(stream, first)
        return
    try:
        with gzip.GzipFile(fileobj=io.BufferedReader(_Pieces(_chunks(stream, first)))) as file:
            yield from _chunks(file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Invalid("file", "gzip") from error


def _decoder(encoding: str) -> codecs.IncrementalDecoder | None:
    """The decoder; None for UTF-8, which is not decoded here, so that a bad byte only rejects its row."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # refuses codecs that don't decode text
        name, decoder = codecs.lookup(encoding).name, codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):
        name = ""
    if not name or name.replace("-", "_") in _NO_TEXT:
        raise Invalid(
            "encoding",
            "encoding",
            what="name",
            value=encoding,
            near=nearest(encoding.replace("-", "_"), _text_encodings()),
        )
    return None if name in ("utf-8", "utf-8-sig") else decoder("strict")


def _text_encodings() -> set[str]:
    return {
        name
        for alias, codec in aliases.items()
        if not codec.endswith("_codec") and codec not in (*_NO_TEXT, "rot_13", "mbcs")
        for name in (alias, codec)
    }


def _recoded(
    pieces: Iterator[bytes], decoder: codecs.IncrementalDecoder, encoding: str, is_whole: bool
) -> Iterator[bytes]:
    line = 1
    for piece, last in _mark_end(pieces, is_whole):
        state = decoder.getstate()
        try:
            text = decoder.decode(piece, last)
        except UnicodeDecodeError as error:
            # The good bytes before it in this piece. error.object begins with bytes kept from earlier pieces.
            good_size = max(0, error.start - len(error.object) + len(piece))
            decoder.setstate(state)
            line += decoder.decode(piece[:good_size]).count("\n")
            byte = error.object[error.start]
            raise Invalid(
                "encoding",
                "encoding",
                what="byte",
                encoding=encoding,
                byte=f"0x{byte:02x}",
                line=line,
            ) from error
        except UnicodeError as error:  # the byte order mark that the encoding needs is missing
            raise Invalid("encoding", "encoding", what="mark", encoding=encoding) from error
        line += text.count("\n")
        if text:
            yield text.encode(errors="surrogatepass")


def _mark_end(pieces: Iterator[bytes], is_whole: bool) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    if is_whole:
        yield b"", True
