"""Logs: their formats, and gunicorn's own in the same ones."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any, Literal

from flask import has_request_context, request
from gunicorn.glogging import Logger

from leaseq.transfer import rfc3339

Kind = Literal["text", "json"]

VARIABLE = "LEASEQ_LOG"
ACCESS = "leaseq.access"
REQUEST_ID = "leaseq.request_id"
"""The key of a request's id in its WSGI environment."""
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def escaped(text: str) -> str:
    """The text in one line of printable characters: line ends, escape sequences and the like as ``\\n``."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )


def _time(record: logging.LogRecord) -> str:
    return rfc3339(datetime.fromtimestamp(record.created, UTC))


def _request_id(record: logging.LogRecord) -> str | None:
    """The id of the request that the line is about, or during which it was written."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    id = fields.get("request_id") or (request.environ.get(REQUEST_ID) if has_request_context() else None)
    return str(id) if id else None


class TextFormatter(logging.Formatter):
    """For people: time, level, logger, message, then ``name=value``. Traceback lines begin with a bar."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {**getattr(record, "fields", {}), "request_id": _request_id(record)}
        words = [_time(record), record.levelname.lower(), f"{record.name}:", escaped(record.getMessage())]
        words += [f"{name}={_format_value(value)}" for name, value in fields.items() if value is not None]
        lines = [" ".join(words)]
        if record.exc_info:
            lines += [f"  | {escaped(line)}" for line in self.formatException(record.exc_info).split("\n")]
        return "\n".join(lines)


def _format_value(value: object) -> str:
    return _quoted(escaped(value)) if isinstance(value, str) else str(value)


class JsonFormatter(logging.Formatter):
    """For programs: one JSON object per line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
            "request_id": _request_id(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None})


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}


def log_to_stderr(kind: str, level: int) -> None:
    """Send all logs of this process to standard error. An unknown kind means text."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FORMATTERS.get(kind, TextFormatter)())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)


class ServerLogger(Logger):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's log, in the app's format. The app writes the access log, since it knows the person."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        log_to_stderr(os.environ.get(VARIABLE, "text"), self.loglevel)

    def exception(self, msg: object, *args: Any, **kwargs: Any) -> None:
        """Log an exception. A client that was too slow (webapp/serving/capacity.py) is not an error, and
        gets no traceback."""
        if isinstance(sys.exc_info()[1], TimeoutError):
            self.debug("closed the connection of a client that was too slow")
        else:
            super().exception(msg, *args, **kwargs)
