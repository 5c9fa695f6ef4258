"""Unpacks request bodies that are sent with a ``Content-Encoding``."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from typing import Any

from flask import Flask, request
from werkzeug.wsgi import get_input_stream

from leaseq import Invalid
from leaseq.webapp.security.authorization import in_api
from leaseq.webapp.serving.capacity import PIECE
from leaseq.webapp.serving.problem import Problem

MAX_EXPANSION = 100
"""A body unpacks to at most this many times its size, beyond ``FREE_BYTES``. Files of rows unpack to 3 to 20
times their size; one that was made for it, to 1,000 times."""
FREE_BYTES = 1_048_576
_GZIP = ("gzip", "x-gzip")


def init_packed_bodies(app: Flask) -> None:
    """Register this before everything that may read a body."""
    app.before_request(_unpack)


def _unpack() -> None:
    """Let everything after this read the unpacked body, whose length is not known. Other encodings than gzip
    are refused; on pages all are, since no browser packs a form."""
    environ = request.environ
    encoding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding in ("", "identity"):
        return
    if not in_api() or encoding not in _GZIP:
        accepted = "gzip" if in_api() else "identity"
        detail = f"Content-Encoding: expected {accepted}, got {encoding}"
        problem = Problem(415, "unsupported-media-type", detail)
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
        self._packed = _Counted(packed)
        self._file = gzip.GzipFile(fileobj=io.BufferedReader(self._packed, PIECE))
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read(min(len(buffer), PIECE))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise Invalid("body", f"a whole gzip file, as Content-Encoding says ({error})") from None
        self._size += len(piece)
        if self._size > FREE_BYTES + MAX_EXPANSION * self._packed.count:
            limit = f"a body that unpacks to at most {MAX_EXPANSION} times its size"
            raise Problem(413, "too-large", f"body: {limit}: send it unpacked", field="body", limit=limit)
        buffer[: len(piece)] = piece
        return len(piece)


class _Counted(io.RawIOBase):
    """A stream that counts what was read from it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self.count += len(piece)
        return len(piece)
