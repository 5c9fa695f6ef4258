"""Where LEASEQ_ALLOWED_HOSTS is given, a request that names another host is refused."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.web.conftest import CHEAP, SECRET


def make(server: Any, **settings: Any) -> Flask:
    return create_app(Settings(redis_url=server.url, secret_key=SECRET, **settings), passwords=CHEAP)


@pytest.fixture(scope="module")
def named(server: Any) -> Flask:
    return make(server, allowed_hosts="queue.example.org .team.example [::1]", trusted_proxies=1)


@pytest.mark.parametrize(
    "host",
    ["queue.example.org", "queue.example.org:8000", "QUEUE.example.org", "a.b.team.example", "[::1]:8000"],
)
def test_the_hosts_that_are_named_are_answered(named: Flask, host: str) -> None:
    assert named.test_client().get("/login", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "queue.example.org.evil.example", "evilteam.example", ""])
@pytest.mark.parametrize("path", ["/login", "/", "/nowhere", "/static/shared/page.js"])
def test_another_host_is_refused(named: Flask, path: str, host: str) -> None:
    answer = named.test_client().get(path, headers={"Host": host})
    assert answer.status_code == 400
    assert "LEASEQ_ALLOWED_HOSTS" in answer.text
    assert "evil.example" not in answer.text


def test_whether_it_is_alive_may_be_asked_by_any_name(named: Flask) -> None:
    for path in ("/healthz", "/readyz"):
        assert named.test_client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code == 200


def test_programs_are_told_as_json(named: Flask) -> None:
    answer = named.test_client().get("/api/v1/queues", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert (answer.get_json()["code"], answer.get_json()["field"]) == ("invalid", "Host")


@pytest.mark.parametrize(("forwarded", "status"), [("queue.example.org", 200), ("evil.example", 400)])
def test_behind_a_proxy_the_host_is_the_one_that_it_was_asked_for(
    named: Flask, forwarded: str, status: int
) -> None:
    headers = {"Host": "10.0.0.7:8000", "X-Forwarded-Host": forwarded}
    assert named.test_client().get("/login", headers=headers).status_code == status


def test_where_nothing_is_set_any_host_will_do(server: Any) -> None:
    answer = make(server).test_client().get("/login", headers={"Host": "anything.example"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "wrong", ["https://a.example", "a.example:8000", "a.example/x", "*", "*.example", "."]
)
def test_a_setting_that_names_no_host_is_refused(server: Any, wrong: str) -> None:
    with pytest.raises(ValueError, match="host name"):
        make(server, allowed_hosts=f"good.example {wrong}")
