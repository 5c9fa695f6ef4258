"""HTTP in REST: supported and unsupported methods, HEAD, and content negotiation."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.web.api_calls import CALLS, assert_problem, assert_unchanged

PATHS = {
    "/queues": {"GET"},
    "/queues/{q}": {"DELETE", "GET", "PUT"},
    "/queues/{q}/items": {"GET", "POST"},
    "/queues/{q}/reserve": {"POST"},
    "/queues/{q}/items/one": {"GET", "PATCH", "DELETE"},
    "/queues/{q}/items/a%2Fb": {"GET", "PATCH", "DELETE"},
    "/queues/{q}/items/one/finish": {"POST"},
    "/queues/{q}/items/one/draft": {"PUT"},
    "/queues/{q}/events": {"GET"},
    "/people/ann": {"GET", "PUT", "DELETE"},
    "/openapi.json": {"GET"},
}


def allowed_methods(response: Any) -> set[str]:
    return set(response.headers["Allow"].split(", "))


@pytest.mark.parametrize("path", PATHS)
def test_allow_header_lists_methods_of_path(
    app: Any, form_queue: leaseq.Queue, call: Callable[..., Any], path: str
) -> None:
    methods = PATHS[path] | {"OPTIONS"} | ({"HEAD"} if "GET" in PATHS[path] else set())
    url = path.format(q=form_queue.name)
    response = app.test_client().options(f"/api/v1{url}")
    assert (response.status_code, response.data, allowed_methods(response)) == (204, b"", methods)
    item_methods = {"PATCH"} if "/items/" in path else set()  # an id may contain slashes
    for method in {"PATCH", "TRACE", "PROPFIND"} - item_methods:
        with assert_unchanged(form_queue):
            response = call("admin", method, url)
        detail = assert_problem(response, 405, "method-not-allowed")["detail"]
        assert allowed_methods(response) == methods
        assert detail == f"this path allows {', '.join(sorted(methods))}, not {method}"


def test_options_of_unknown_path_is_not_found(app: Any) -> None:
    assert_problem(app.test_client().options("/api/v1/nowhere"), 404, "not-found")


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_double_slash_redirects_to_single_slash(app: Any, method: str) -> None:
    """Also with a method that the path does not support."""
    response = app.test_client().open("/api/v1//queues", method=method)
    assert (response.status_code, response.location) == (308, "http://localhost/api/v1/queues")


def test_options_of_page_lists_methods_of_page(app: Any) -> None:
    assert allowed_methods(app.test_client().options("/login")) == {"GET", "HEAD", "OPTIONS", "POST"}


def test_head_is_get_without_a_body(form_queue: leaseq.Queue, call: Callable[..., Any]) -> None:
    for path in ("", "/items?state=inbound", "/items/one", "/stats", "/journal"):
        url = f"/queues/{form_queue.name}{path}"
        get_response, head_response = call("manager", "GET", url), call("manager", "HEAD", url)
        assert (head_response.status_code, head_response.data) == (200, b"")
        assert head_response.mimetype == get_response.mimetype
        assert abs((head_response.content_length or 0) - len(get_response.data)) < 4, (
            "an age in the body may get one more digit"
        )
    assert call("manager", "HEAD", f"/queues/{form_queue.name}/items/none").status_code == 404


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if name != "draft"])
def test_unsupported_accept_type_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str
) -> None:
    role, method, path, valid_body = CALLS[name]
    with assert_unchanged(form_queue):
        for kind in ("text/html", "application/xml, text/plain", "application/json;q=0"):
            response = call(
                role, method, path.format(q=form_queue.name), json=valid_body, headers={"Accept": kind}
            )
            assert_problem(response, 406, "not-acceptable")


@pytest.mark.parametrize("kind", ["*/*", "application/*", "text/html, */*;q=0.1", "application/json", ""])
def test_accept_types_including_json_get_json(
    form_queue: leaseq.Queue, call: Callable[..., Any], kind: str
) -> None:
    response = call("worker", "GET", f"/queues/{form_queue.name}", headers={"Accept": kind})
    assert (response.status_code, response.mimetype) == (200, "application/json")


@pytest.mark.parametrize("method", ["DELETE", "OPTIONS"])
def test_response_without_body_has_no_content_type(
    form_queue: leaseq.Queue, call: Callable[..., Any], method: str
) -> None:
    response = call("manager", method, f"/queues/{form_queue.name}/items/one")
    assert (response.status_code, response.headers.get("Content-Type")) == (204, None)
    assert "script-src" not in response.headers["Content-Security-Policy"]


TYPES = {
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@pytest.mark.parametrize(
    ("accept", "query", "format"),
    [
        ("text/csv", "", "csv"),
        ("text/tab-separated-values", "", "tsv"),
        ("application/json", "", "json"),
        ("application/x-ndjson", "", "jsonl"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "", "xlsx"),
        ("text/csv;q=0.4, application/json;q=0.9", "", "json"),
        ("text/csv, */*;q=0.1", "", "csv"),
        ("text/*", "", "csv"),
        ("*/*", "", "jsonl"),
        ("", "", "jsonl"),
        ("text/csv, */*", "?format=json", "json"),
        ("text/html, text/csv", "?format=csv", "csv"),
        ("text/csv", "?format=json", None),
        ("text/html", "", None),
        ("text/csv;q=0", "", None),
    ],
)
def test_answers_have_the_format_that_accept_asks_for(
    form_queue: leaseq.Queue, call: Callable[..., Any], accept: str, query: str, format: str | None
) -> None:
    path = f"/queues/{form_queue.name}/answers{query}"
    response = call("manager", "GET", path, headers={"Accept": accept}, buffered=True)
    if format is None:
        assert_problem(response, 406, "not-acceptable")
    else:
        assert (response.status_code, response.mimetype) == (200, TYPES[format])


def gzipped_call(
    call: Callable[..., Any], name: str, queue: leaseq.Queue, body: bytes, **headers: str
) -> Any:
    role, method, path, _ = CALLS[name]
    packed_headers = {"Content-Encoding": "gzip", **headers}
    return call(role, method, path.format(q=queue.name), data=body, headers=packed_headers,
                content_type="application/json")  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_gzipped_body_is_the_same_as_the_plain_one(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str
) -> None:
    body = {**CALLS[name][3], "unknown": 1}
    response = gzipped_call(call, name, form_queue, gzip.compress(json.dumps(body).encode()))
    assert assert_problem(response, 400, "invalid")["field"] == "unknown"
    with assert_unchanged(form_queue):
        for encoding in ("br", "deflate", "zstd", "gzip, gzip"):
            response = gzipped_call(call, name, form_queue, b"x", **{"Content-Encoding": encoding})
            assert_problem(response, 415, "unsupported-media-type")
            assert response.headers["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "once"}])
def test_gzipped_items_are_added(queue: leaseq.Queue, call: Callable[..., Any], key: dict[str, str]) -> None:
    queue.configure()
    body = json.dumps({"payload": {"text": "x" * 5_000}, "id": "a"}).encode()
    for _ in range(2):
        response = gzipped_call(call, "put item", queue, gzip.compress(body), **key)
        assert response.json["id"] == "a", response.text
    assert queue.get("a").payload == {"text": "x" * 5_000}
    plain = call("manager", "POST", f"/queues/{queue.name}/items", data=body,
                 headers={"Content-Encoding": "identity"}, content_type="application/json")  # fmt: skip
    assert plain.json == {"id": "a", "added": False}


@pytest.mark.parametrize(
    ("path", "kind", "data"),
    [
        (
            "items",
            "application/x-ndjson",
            b"".join(b'{"payload": %d, "id": "%d"}\n' % (n, n) for n in range(3_000)),
        ),
        (
            "import?id_field=id",
            "text/csv",
            b"id,text\n" + b"".join(b"%d,row %d\n" % (n, n) for n in range(3_000)),
        ),
    ],
)
def test_gzipped_rows_stream(
    queue: leaseq.Queue, call: Callable[..., Any], path: str, kind: str, data: bytes
) -> None:
    queue.configure()
    packed = gzip.compress(data[:20_000]) + gzip.compress(data[20_000:])  # a file may consist of several
    for headers in ({}, {"Idempotency-Key": "rows"}):
        response = call("manager", "POST", f"/queues/{queue.name}/{path}", data=packed, content_type=kind,
                        headers={"Content-Encoding": "gzip", **headers})  # fmt: skip
        assert response.status_code < 300, response.text
    assert queue.stats().inbound == 3_000


@pytest.mark.parametrize(
    "body",
    [b"", b"plain", gzip.compress(b'{"payload": 1}')[:-9], b"\x1f\x8b"],
    ids=["empty", "plain", "cut off", "header cut off"],
)
def test_body_that_is_not_gzip_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], body: bytes
) -> None:
    with assert_unchanged(form_queue):
        response = gzipped_call(call, "put item", form_queue, body)
        refusal = assert_problem(response, 400, "invalid")
        assert refusal["field"] == ("body" if body else "payload")


def test_gzip_bomb_is_refused(queue: leaseq.Queue, call: Callable[..., Any], app: Any) -> None:
    queue.configure()
    limit = app.config["MAX_CONTENT_LENGTH"]
    bomb = gzip.compress(b'{"payload": "' + b" " * (limit + 1) + b'"}')
    assert len(bomb) < limit
    with assert_unchanged(queue):
        for name in ("put item", "put queue", "finish"):
            refusal = assert_problem(gzipped_call(call, name, queue, bomb), 413, "too-large")
            assert refusal["field"] == "body"


@pytest.mark.parametrize(("path", "kind"), [("items", "application/x-ndjson"), ("import", "text/csv")])
@pytest.mark.guard("body-expansion")
def test_stream_that_expands_too_much_is_refused(
    queue: leaseq.Queue, call: Callable[..., Any], path: str, kind: str
) -> None:
    queue.configure()
    bomb = gzip.compress((b" " * 9_999 + b"\n") * 2_000)
    response = call("manager", "POST", f"/queues/{queue.name}/{path}", data=bomb, content_type=kind,
                    headers={"Content-Encoding": "gzip"})  # fmt: skip
    assert assert_problem(response, 413, "too-large")["field"] == "body"


def test_page_refuses_a_packed_form(app: Any) -> None:
    response = app.test_client().post(
        "/login", data=gzip.compress(b"name=a"), headers={"Content-Encoding": "gzip"}
    )
    assert response.status_code == 415
