"""gunicorn must not trust X-Forwarded-Proto from loopback: only LEASEQ_TRUSTED_PROXIES decides."""

from __future__ import annotations

from typing import Any

import pytest
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader


@pytest.mark.guard("forwarded-by-gunicorn")
def test_gunicorn_ignores_forwarded_scheme_headers(monkeypatch: Any) -> None:
    configuration = "python:leaseq.webapp.serving.gunicorn_conf"
    monkeypatch.setattr("sys.argv", ["gunicorn", "--config", configuration, "leaseq.webapp.wsgi:app"])
    config = WSGIApplication("%(prog)s").cfg
    request_bytes = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Ssl: on\r\n\r\n"
    request = Request(config, IterUnreader(iter([request_bytes])), ("127.0.0.1", 1234))
    assert request.scheme == "http"
