"""The log: one line per record, whatever a path, name or error contains; and the ids of requests."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from gunicorn.config import Config

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.serving.logs import ACCESS, JsonFormatter, ServerLogger, TextFormatter
from leaseq.webapp.settings import Settings
from tests.support.leases import not_none
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Caller

EVIL = "x\n2026-11-21T10:00:00.000Z info leaseq.access: forged\r\x1b[2J\x85\u2028\u202e\x00"


class Log:
    """The log's output, in one of its two formats."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(formatter)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture(params=[TextFormatter, JsonFormatter], ids=["text", "json"])
def log(request: Any) -> Iterator[Log]:
    yield from _attach(Log(request.param()))


@pytest.fixture
def json_log() -> Iterator[Log]:
    yield from _attach(Log(JsonFormatter()))


def _attach(log: Log) -> Iterator[Log]:
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.INFO)
    root.addHandler(log.handler)
    yield log
    root.removeHandler(log.handler)
    root.setLevel(level)


def test_access_log_entry_has_request_and_person(json_log: Log, worker: Caller, queue: leaseq.Queue) -> None:
    queue.configure()
    response = worker("GET", f"/queues/{queue.name}/mine?limit=7", buffered=True)
    (access_entry,) = [entry for entry in json_log.entries() if entry["logger"] == ACCESS]
    assert access_entry["ms"] > 0
    assert access_entry["time"].endswith("Z")
    assert {
        name: access_entry[name] for name in ("method", "path", "route", "status", "person", "address")
    } == {
        "method": "GET",
        "path": f"/api/v1/queues/{queue.name}/mine",
        "route": "/api/v1/queues/<q>/mine",
        "status": 200,
        "person": worker.name,
        "address": "127.0.0.1",
    }
    assert access_entry["request_id"] == response.headers["X-Request-Id"]
    assert "secret" not in json_log.text, "links that set a password have their token in the query"


@pytest.mark.guard("log-escaped")
def test_control_characters_do_not_forge_log_lines(app: Flask, log: Log) -> None:
    app.test_client().get("/" + EVIL.replace("\x00", "%00"), buffered=True)
    logging.getLogger("webapp").error("%s failed", EVIL)
    try:
        raise ValueError(EVIL)
    except ValueError:
        logging.getLogger("webapp").exception("it failed")
    lines = log.text.split("\n")
    assert lines.pop() == ""
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("2026-11-21T10:00:00.000Z") for line in lines)
    heads = [line for line in lines if not line.startswith("  | ")]
    assert len(heads) == 3


def test_exception_is_logged_with_request_id(server: Any, json_log: Log) -> None:
    app = create_app(Settings(redis_url=server.url, secret_key=SECRET), passwords=CHEAP_PASSWORDS)
    app.view_functions["monitoring.healthz"] = lambda: str(1 // 0)
    response = app.test_client().get("/healthz")
    assert response.status_code == 500
    (error_entry,) = [entry for entry in json_log.entries() if entry["level"] == "error"]
    assert "ZeroDivisionError" in error_entry["exception"]
    assert error_entry["request_id"] == response.headers["X-Request-Id"]
    assert error_entry["request_id"] in response.text, "the page shows the id to search for"


@pytest.mark.parametrize(
    ("error", "level"),
    [(TimeoutError("slow"), "debug"), (ValueError("broken"), "error")],
    ids=["slow", "broken"],
)
def test_client_timeout_is_logged_as_debug_not_error(
    json_log: Log, monkeypatch: pytest.MonkeyPatch, error: Exception, level: str
) -> None:
    monkeypatch.setattr("leaseq.webapp.serving.logs.log_to_stderr", lambda *_: None)
    config = Config()
    config.set("loglevel", "debug")
    logging.getLogger().setLevel(logging.DEBUG)
    logger = ServerLogger(config)
    try:
        raise error
    except type(error):
        logger.exception("Socket error processing request.")
    (entry,) = json_log.entries()
    assert (entry["level"], "exception" in entry) == (level, level == "error")


def test_problem_response_has_request_id(app: Flask) -> None:
    response = app.test_client().get("/api/v1/queues")
    assert not_none(response.json)["request_id"] == response.headers["X-Request-Id"]


@pytest.mark.guard("request-id-by-proxy")
def test_request_id_is_accepted_only_from_trusted_proxy(server: Any) -> None:
    def request_id_of(proxies: int, request_id: str, **environ: str) -> str:
        settings = Settings(redis_url=server.url, secret_key=SECRET, trusted_proxies=proxies)
        client = create_app(settings, passwords=CHEAP_PASSWORDS).test_client()
        response = client.get("/healthz", headers={"X-Request-Id": request_id}, environ_overrides=environ)
        return str(response.headers["X-Request-Id"])

    assert request_id_of(1, "abc-123-of-nginx") == "abc-123-of-nginx"
    assert request_id_of(0, "abc-123-of-nginx") != "abc-123-of-nginx"
    assert request_id_of(1, "abc-123-of-nginx", REMOTE_ADDR="192.0.2.1") != "abc-123-of-nginx"
    assert request_id_of(1, "has spaces in it") != "has spaces in it"
    assert request_id_of(1, "x" * 65) != "x" * 65
