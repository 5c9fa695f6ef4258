"""If LEASEQ_ALLOWED_HOSTS is set, requests for other hosts are refused."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.web.conftest import CHEAP_PASSWORDS, SECRET


def make_app(server: Any, **settings: Any) -> Flask:
    return create_app(
        Settings(redis_url=server.url, secret_key=SECRET, **settings), passwords=CHEAP_PASSWORDS
    )


@pytest.fixture(scope="module")
def named_hosts_app(server: Any) -> Flask:
    return make_app(server, allowed_hosts="queue.example.org .team.example [::1]", trusted_proxies=1)


@pytest.mark.parametrize(
    "host",
    ["queue.example.org", "queue.example.org:8000", "QUEUE.example.org", "a.b.team.example", "[::1]:8000"],
)
def test_allowed_host_is_answered(named_hosts_app: Flask, host: str) -> None:
    assert named_hosts_app.test_client().get("/login", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "queue.example.org.evil.example", "evilteam.example", ""])
@pytest.mark.parametrize("path", ["/login", "/", "/nowhere", "/static/any/shared/page.js"])
@pytest.mark.guard("hosts-checked", "hosts-suffix")
def test_another_host_is_refused(named_hosts_app: Flask, path: str, host: str) -> None:
    response = named_hosts_app.test_client().get(path, headers={"Host": host})
    assert response.status_code == 400
    assert "LEASEQ_ALLOWED_HOSTS" in response.text
    assert "evil.example" not in response.text


@pytest.mark.guard("hosts-probes")
def test_health_checks_accept_any_host(named_hosts_app: Flask) -> None:
    for path in ("/healthz", "/readyz"):
        assert named_hosts_app.test_client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code == 200


def test_rest_refusal_of_host_is_json(named_hosts_app: Flask) -> None:
    response = named_hosts_app.test_client().get("/api/v1/queues", headers={"Host": "evil.example"})
    assert (response.status_code, response.mimetype) == (400, "application/problem+json")
    assert (response.get_json()["code"], response.get_json()["field"]) == ("invalid", "Host")


@pytest.mark.parametrize(("forwarded_host", "status"), [("queue.example.org", 200), ("evil.example", 400)])
def test_forwarded_host_is_checked_behind_proxy(
    named_hosts_app: Flask, forwarded_host: str, status: int
) -> None:
    headers = {"Host": "10.0.0.7:8000", "X-Forwarded-Host": forwarded_host}
    assert named_hosts_app.test_client().get("/login", headers=headers).status_code == status


@pytest.mark.parametrize(("address", "status"), [("127.0.0.1", 400), ("8.8.8.8", 200), ("unknown", 200)])
def test_forwarded_host_counts_only_from_a_trusted_address(
    named_hosts_app: Flask, address: str, status: int
) -> None:
    headers = {"Host": "queue.example.org", "X-Forwarded-Host": "evil.example"}
    client = named_hosts_app.test_client()
    response = client.get("/login", headers=headers, environ_overrides={"REMOTE_ADDR": address})
    assert response.status_code == status


def test_any_host_is_answered_by_default(server: Any) -> None:
    response = make_app(server).test_client().get("/login", headers={"Host": "anything.example"})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "host", ["https://a.example", "a.example:8000", "a.example/x", "*", "*.example", "."]
)
def test_invalid_allowed_hosts_setting_is_refused(server: Any, host: str) -> None:
    with pytest.raises(ValueError, match="host name"):
        make_app(server, allowed_hosts=f"good.example {host}")
