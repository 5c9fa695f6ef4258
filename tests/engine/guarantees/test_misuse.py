"""Common mistakes of beginners: each error says what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
import redis

import leaseq
from tests.support.refused import refused


def form_schema(kind: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": kind}}}


def required(name: str, schema: object) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize("given", [redis.Redis(), "redis://localhost", None, leaseq.connect])
@pytest.mark.parametrize(
    "call",
    [
        lambda given: leaseq.Queue(given, "reviews"),
        leaseq.queues,
        lambda given: leaseq.Worker(given, {"reviews": lambda _: None}, person="bot"),
    ],
    ids=["Queue", "queues", "Worker"],
)
def test_value_that_is_not_a_leaseq_client_is_refused(call: Callable[[Any], object], given: Any) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        call(given)
    assert error.value.field == "client"
    assert "leaseq.connect(url)" in error.value.limit
    assert type(given).__name__ in str(error.value)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("lease_second", "lease_seconds"),
        ("lease", "lease_seconds"),
        ("lease_time", "lease_seconds"),
        ("attempts", "max_attempts"),
        ("hold", "holds"),
        ("retry", "retry_seconds"),
        ("Title", "title"),
        ("share_draft", "share_drafts"),
        ("create_onl", "create_only"),
        ("expect", "expected"),
    ],
)
def test_misspelled_policy_field_gets_suggestion(queue: leaseq.Queue, name: str, suggestion: str) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        queue.configure(**cast("Any", {name: 1}))
    assert error.value.field == name
    assert f"did you mean {suggestion}?" in str(error.value)
    assert not queue.exists()


def test_unknown_policy_field_gets_list_of_fields(queue: leaseq.Queue) -> None:
    with refused("one_of") as error:
        queue.configure(xyzzy=1)  # type: ignore[call-arg]
    assert "did you mean" not in str(error.value)
    assert all(name in str(error.value) for name in ("lease_seconds", "holds", "form"))


@pytest.mark.parametrize(
    ("form", "rule", "values"),
    [
        ({"shows": []}, "form_member", {"name": "shows", "near": "show"}),
        ({"show": [{"feld": "a"}]}, "form_member", {"name": "feld", "near": "field"}),
        ({"show": [{"field": "a", "kind": "picture"}]}, "form_member", {"name": "picture", "near": None}),
        ({"show": [{"field": "a", "kind": "marked"}]}, "form_member", {"name": "marked", "near": "markdown"}),
        ({"show": [{"field": "a", "kind": 5}]}, "form_member", {"name": "5"}),
        ({"show": [{"field": "a", "curency": "EUR"}]}, "form_member", {"near": "currency"}),
        ({"show": [{"field": "a", "currency": "EUR"}]}, "form_option", {"what": "kind", "kind": "money"}),
        ({"show": [{"field": "a", "kind": "text", "with": "b"}]}, "form_option", {"what": "kind"}),
        ({"show": [{"field": "a", "kind": "diff", "with": ""}]}, "form_option", {"what": "text"}),
        ({"show": [{"field": "a", "kind": "code", "language": 7}]}, "form_option", {"what": "text"}),
        ({"show": [{"field": "a", "kind": "money", "currency": "euro"}]}, "form_option", {"value": "euro"}),
        ({"ask": form_schema("strng")}, "form_schema", {"what": "type", "name": "strng", "near": "string"}),
        ({"ask": form_schema("xyz")}, "form_schema", {"what": "type", "name": "xyz", "near": None}),
        ({"ask": form_schema(5)}, "form_schema", {"what": "type", "name": "5"}),
        ({"ask": form_schema(["null", "strng"])}, "form_schema", {"what": "type", "name": "strng"}),
        ({"ask": form_schema(["null", "null"])}, "form_schema", {"what": "other"}),
        ({"ask": {"type": "object", "properties": {"type": "string"}}}, "form_schema", {"what": "other"}),
        ({"ask": {**required("a", {}), "maxProperties": 0}}, "form_schema", {"place": ""}),
        ({"ask": required("a", required("b", {"enum": []}))}, "form_schema", {"place": "a: b: "}),
    ],
)
def test_misspelled_word_in_form_is_named(
    queue: leaseq.Queue, form: Any, rule: str, values: dict[str, Any]
) -> None:
    with refused(rule, "form", **values):
        queue.configure(form=form)


@pytest.mark.parametrize(
    "url",
    ["unix://relative", "unix://run/server.sock", "unix://", "unix://?db=1", "unix://ann:pw@", "unix://./x"],
)
def test_unix_url_without_absolute_path_is_refused(url: str) -> None:
    with refused("format", "url", what="socket") as error:
        leaseq.connect(url)
    assert error.value.field == "url"
    assert "absolute path" in error.value.limit
    assert "pw" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "option", "message"),
    [
        ("redis://localhost?socket_time=5", "socket_time", "did you mean socket_timeout?"),
        ("unix:///run/server.sock?timeout=5", "timeout", "did you mean socket_timeout?"),
        ("rediss://localhost?ssl_ca_cert=/x", "ssl_ca_cert", "did you mean ssl_ca_certs?"),
        ("redis://localhost?xyzzy=1&db=0", "xyzzy", "socket_connect_timeout"),
        ("redis+cluster://127.0.0.1:1?xyzzy=1", "xyzzy", "socket_connect_timeout"),
        (
            "redis+sentinel://one/m?sentinel_pasword=x",
            "sentinel_pasword",
            "did you mean sentinel_password?",
        ),
        ("redis+sentinel://one/m?xyzzy=1", "xyzzy", "sentinel_username"),
        ("redis://localhost?socket_timeout=soon", "socket_timeout", "another value"),
        ("redis+sentinel://one/m?socket_timeout=soon", "socket_timeout", "another value"),
    ],
)
def test_invalid_url_option_is_named(url: str, option: str, message: str) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        leaseq.connect(url)
    assert error.value.field == "url"
    assert repr(option) in str(error.value)
    assert message in str(error.value)


def test_url_error_does_not_contain_password() -> None:
    """After a password with a question mark, the rest looks like options."""
    for url in ("redis://:12?hunter=x@localhost", "redis://h?hunter%21=1", "redis://h?=hunter"):
        with pytest.raises(leaseq.Invalid) as error:
            leaseq.connect(url)
        assert "hunter" not in str(error.value)
