"""HTTP in REST: supported and unsupported methods, HEAD, and content negotiation."""

from __future__ import annotations

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
