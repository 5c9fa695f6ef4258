"""Bodies: JSON, forms and gzip, read within their limits, and JSON written, all in time slices."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterable
from typing import IO, Any, BinaryIO, cast
from urllib.parse import unquote_to_bytes

from flask import Request, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.wsgi import get_input_stream

from leaseq import Invalid, TooLarge, transfer, validation
from leaseq.webapp.serving.capacity import PIECE
from leaseq.webapp.serving.middleware import in_api
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.serving.time_slices import in_slices

_DIGITS = 16  # of the largest token


def whole_number(text: str | None) -> int | None:
    """The whole number in a field, from 0; None if it is not one."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None


def lines_of(text: str) -> str:
    """A text that a browser sent, with the line breaks of the page."""
    return text.replace("\r\n", "\n")


JSON = "application/json"
_ARRAY = re.compile(rb"[ \t\r\n]*\[")
_PIECES = re.compile(rb"(?:%[0-9A-Fa-f]{2}|.){1,4096}", re.DOTALL)  # that end after an escape, not inside
_UTF8 = codecs.getincrementaldecoder("utf-8")


MAX_VALUE_BYTES = 8 * validation.MAX_JSON_BYTES
"""Of one JSON value: a payload at its limit, with each character written as an escape and white space."""
FEW = 20
"""So many entries of a list, or members of an object, are encoded at once."""
MAX_FIELDS = 10_000  # of a form: the largest has some thousand


class FormParser(FormDataParser):
    """Werkzeug's parser of forms, but one that is sent without files is read in time slices, since 8 MB of
    ``%FF`` took 4 s, and with a limit on its fields, since 8 MB of ``a&`` took 5 s."""

    def _parse_urlencoded(
        self,
        stream: IO[bytes],
        mimetype: str,  # noqa: ARG002 - werkzeug's signature
        content_length: int | None,  # noqa: ARG002
        options: dict[str, str],  # noqa: ARG002
    ) -> Any:
        data = stream.read()
        if data.count(b"&") >= MAX_FIELDS:
            raise RequestEntityTooLarge(f"a form of at most {MAX_FIELDS:,} fields")
        pairs: Iterable[tuple[bytes, bytes, bytes]] = [
            field.partition(b"=") for field in data.split(b"&") if field
        ]
        if len(data) > PIECE:
            pairs = in_slices(pairs)
        return stream, self.cls((_unquoted(name), _unquoted(value)) for name, _, value in pairs), self.cls()


def _unquoted(text: bytes) -> str:
    """A name or a value of a form. What is not UTF-8 is replaced, as the URL Standard says."""
    if len(text) <= PIECE:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode("utf-8", "replace")
    decoder = _UTF8(errors="replace")
    texts = [
        decoder.decode(unquote_to_bytes(piece[0].replace(b"+", b" ")))
        for piece in in_slices(_PIECES.finditer(text))
    ]
    return "".join([*texts, decoder.decode(b"", final=True)])


class StrictRequest(Request):
    """Flask's request with a stricter ``get_json``, from which the API's models are filled."""

    form_data_parser_class = FormParser

    def get_json(self, force: bool = False, silent: bool = False, cache: bool = True) -> Any:  # noqa: ARG002
        """The body as a JSON object; {} if there is no body.

        ``silent`` is ignored: a body that can't be read is always an error.
        """
        raw = self._json_body()
        if not raw:
            return {}
        value = _object_of(raw)
        if not isinstance(value, dict):
            raise Invalid("body", "format", what="object", value=value)
        return value

    def value_or_elements(self) -> Any:
        """The body as any JSON value, but of an array an iterator over its elements, which are read one at a
        time; {} if there is no body."""
        raw = self._json_body()
        if not raw:
            return {}
        if _ARRAY.match(raw):
            return transfer.array_values(io.BytesIO(raw), "body")
        return _object_of(raw)

    def _json_body(self) -> bytes:
        length = self.content_length
        is_read = "stream" in self.__dict__ or hasattr(self, "_cached_data")  # somebody has read it
        raw = self._any_body() if is_read or length is None or length > PIECE else self._short_body(length)
        if raw and self.mimetype != JSON:
            raise Problem.of(415, "unsupported-media-type", "media_type", kinds=[JSON])
        return raw

    def _any_body(self) -> bytes:
        raw, limit = self.get_data(), self.max_content_length
        # Werkzeug cuts a body without a length off at the limit, without an error.
        if limit is not None and len(raw) >= limit:
            raise RequestEntityTooLarge
        return raw

    def _short_body(self, length: int) -> bytes:
        """Read a short body without werkzeug's own stream, which takes a tenth of a call."""
        raw: bytes = self.environ["wsgi.input"].read(length)
        if len(raw) < length:
            raise ClientDisconnected
        self._cached_data = raw
        return raw

    def byte_lines(self) -> BinaryIO:
        """The body as a stream whose lines can be read fast."""
        stream = self.stream
        if isinstance(stream, io.RawIOBase):
            return io.BufferedReader(stream)
        return cast("BinaryIO", stream)


def _object_of(raw: bytes) -> Any:
    """The JSON value of a body, which is not read if it is longer than the longest payload can be."""
    if len(raw) > MAX_VALUE_BYTES:
        raise TooLarge("body", "maximum", what="body_bytes", maximum=MAX_VALUE_BYTES)
    return validation.load_json(raw)


MAX_EXPANSION = 100
"""A body unpacks to at most this many times its size, beyond ``FREE_BYTES``. Files of rows unpack to 3 to 20
times their size; one that was made for it, to 1,000 times."""
FREE_BYTES = 1_048_576
_GZIP = ("gzip", "x-gzip")


def unpack_body() -> None:
    """Let everything after this read the unpacked body, whose length is not known. Other encodings than gzip
    are refused; on pages all are, since no browser packs a form."""
    environ = strict_request().environ
    encoding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding in ("", "identity"):
        return
    if not in_api() or encoding not in _GZIP:
        accepted = "gzip" if in_api() else "identity"
        problem = Problem.of(
            415, "unsupported-media-type", "content_encoding", accepted=accepted, encoding=encoding
        )
        problem.headers["Accept-Encoding"] = accepted
        raise problem
    packed = get_input_stream(environ, max_content_length=sys.maxsize)
    environ["wsgi.input"] = io.BufferedReader(UnpackedBody(packed), PIECE)
    environ["wsgi.input_terminated"] = True
    for name in ("CONTENT_LENGTH", "HTTP_CONTENT_ENCODING"):
        environ.pop(name, None)


class UnpackedBody(io.RawIOBase):
    """The content of a gzipped body, unpacked piece by piece."""

    def __init__(self, packed: Any) -> None:
        self._file = gzip.GzipFile(fileobj=io.BufferedReader(ObservedBody(packed, self._count), PIECE))
        self._packed_size = self._size = 0

    def _count(self, piece: bytes) -> None:
        self._packed_size += len(piece)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read(min(len(buffer), PIECE))
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise Invalid("body", "gzip") from None
        self._size += len(piece)
        if self._size > FREE_BYTES + MAX_EXPANSION * self._packed_size:
            raise Problem.of(
                413, "too-large", "maximum", what="unpacked", field="body", maximum=MAX_EXPANSION
            )
        buffer[: len(piece)] = piece
        return len(piece)


class ObservedBody(io.RawIOBase):
    """A body that shows each piece that is read from it to a function."""

    def __init__(self, body: Any, observe: Callable[[bytes], object]) -> None:
        self._body, self._observe = body, observe

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._body.read(len(buffer))
        buffer[: len(piece)] = piece
        self._observe(piece)
        return len(piece)


class SlicedJson(DefaultJSONProvider):
    """Encodes a list in a response entry by entry, and lets other requests run in between."""

    sort_keys = False

    def dumps(self, obj: Any, **options: Any) -> str:
        if not isinstance(obj, dict) or options.get("indent") is not None or _is_short(obj):
            return super().dumps(obj, **options)
        comma, colon = options.get("separators") or (", ", ": ")

        def encoded(value: Any) -> str:
            if not isinstance(value, list | tuple):
                return super(SlicedJson, self).dumps(value, **options)
            entries = (super(SlicedJson, self).dumps(entry, **options) for entry in in_slices(value))
            return f"[{comma.join(entries)}]"

        members = (f"{encoded(str(name))}{colon}{encoded(value)}" for name, value in in_slices(obj.items()))
        return f"{{{comma.join(members)}}}"


def _is_short(members: dict[str, Any]) -> bool:
    """Whether an object has no list of more than a few entries, nor many members."""
    if len(members) > FEW:
        return False
    return not any(isinstance(value, list | tuple) and len(value) > FEW for value in members.values())


def strict_request() -> StrictRequest:
    """The current request object itself, in its actual class. Flask's proxy ``request`` looks it up for each
    attribute, which took a twentieth of a REST call."""
    return cast("StrictRequest", request._get_current_object())  # type: ignore[attr-defined]  # noqa: SLF001
