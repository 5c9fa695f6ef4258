"""By default gunicorn trusts X-Forwarded-Proto from this machine; only our setting may decide that."""

from __future__ import annotations

from typing import Any

from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader


def test_gunicorn_believes_no_header_about_the_scheme(monkeypatch: Any) -> None:
    configuration = "python:leaseq.webapp.serving.gunicorn_conf"
    monkeypatch.setattr("sys.argv", ["gunicorn", "--config", configuration, "leaseq.webapp.wsgi:app"])
    config = WSGIApplication("%(prog)s").cfg
    request_bytes = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Ssl: on\r\n\r\n"
    request = Request(config, IterUnreader(iter([request_bytes])), ("127.0.0.1", 1234))
    assert request.scheme == "http"
