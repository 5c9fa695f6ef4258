"""The doctor reports a proxy in front of the web app that the settings don't declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from flask import Flask

from leaseq.engine.keys import UNDECLARED_PROXY
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.doctor.reports import findings_of, report_of, url_of
from tests.web.conftest import CHEAP_PASSWORDS, SECRET

PROXY = "10.1.2.3"
CHECK = "proxy-not-declared"


@pytest.fixture
def server(tcp_server: redis.Redis) -> Iterator[redis.Redis]:
    yield tcp_server
    tcp_server.flushall()


def app_of(server: redis.Redis, **settings: Any) -> Flask:
    return create_app(
        Settings(redis_url=url_of(server), secret_key=SECRET, **settings), passwords=CHEAP_PASSWORDS
    )


def send_request(app: Flask, address: str, path: str = "/login", **headers: str) -> None:
    header_fields = {name.replace("_", "-"): value for name, value in headers.items()}
    app.test_client().get(path, headers=header_fields, environ_base={"REMOTE_ADDR": address})


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"])
@pytest.mark.parametrize("address", [PROXY, "127.0.0.1", "fd00::1"])
@pytest.mark.guard("proxy-noted")
def test_undeclared_proxy_is_reported(server: redis.Redis, address: str, header: str) -> None:
    send_request(app_of(server), address, **{header: "203.0.113.9"})
    findings = findings_of(url_of(server))
    assert list(findings) == [CHECK]
    assert findings[CHECK].startswith("warning: ")
    for word in (address, header, "LEASEQ_TRUSTED_PROXIES", "LEASEQ_PROXY_ADDRESSES"):
        assert word in findings[CHECK]


def test_proxy_from_undeclared_address_is_reported(server: redis.Redis) -> None:
    send_request(app_of(server, trusted_proxies=1), PROXY, X_Forwarded_For="203.0.113.9")
    assert PROXY in findings_of(url_of(server))[CHECK]


@pytest.mark.parametrize(
    ("settings", "address", "headers"),
    [
        ({"trusted_proxies": 1, "proxy_addresses": "10.0.0.0/8"}, PROXY, {"X_Forwarded_For": "203.0.113.9"}),
        ({}, PROXY, {}),
        ({}, "8.8.8.8", {"X_Forwarded_For": "203.0.113.9"}),  # a remote client that forged the header
    ],
)
@pytest.mark.guard("proxy-near")
def test_declared_proxy_or_direct_client_is_not_reported(
    server: redis.Redis, settings: dict[str, Any], address: str, headers: dict[str, str]
) -> None:
    send_request(app_of(server, **settings), address, **headers)
    report = report_of(url_of(server))
    assert report.findings == ()
    assert "not reached through an undeclared proxy" in report.passed["pages"]


@pytest.mark.guard("proxy-probes")
def test_health_probe_through_undeclared_proxy_is_not_reported(server: redis.Redis) -> None:
    send_request(app_of(server), PROXY, "/healthz", X_Forwarded_For="203.0.113.9")
    assert not findings_of(url_of(server))


def test_record_of_undeclared_proxy_expires_after_two_hours(server: redis.Redis) -> None:
    send_request(app_of(server), PROXY, X_Forwarded_For="203.0.113.9")
    assert 0 < server.ttl(UNDECLARED_PROXY) <= 7_200
