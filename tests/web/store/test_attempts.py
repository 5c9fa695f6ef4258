"""Password attempts are counted by name, address and page, also when they are concurrent."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.sessions import PER_NAME, password_counters
from tests.web.conftest import PASSWORD, Browser


@pytest.mark.parametrize(
    ("address", "other_address", "is_same_place"),
    [
        ("2001:db8:1:2::7", "2001:db8:1:2:aaaa:bbbb:cccc:dddd", True),
        ("2001:db8:1:2::7", "2001:db8:1:3::7", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "", True),
    ],
)
@pytest.mark.guard("ipv6-network")
def test_addresses_of_ipv6_network_share_counters(
    address: str, other_address: str, is_same_place: bool
) -> None:
    assert (password_counters("ann", address) == password_counters("ann", other_address)) is is_same_place


def test_concurrent_attempts_do_not_exceed_limit(accounts: Accounts, new_name: Callable[[str], str]) -> None:
    counters = password_counters(new_name("tried"), "192.0.2.77")[:1]
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda _: accounts.attempts.begin(counters), range(40)))
    assert 1 <= waits.count(None) <= PER_NAME
    assert all(wait is None or 200 < wait.seconds <= 300 for wait in waits), "until the window is over"
    assert sum(wait is not None and wait.is_first for wait in waits) == 1


@pytest.mark.parametrize("path", ["/account/password", "/account/factor/begin", "/account/factor/off"])
@pytest.mark.guard("limit-refuses")
def test_current_password_attempts_in_session_are_limited(worker_browser: Browser, path: str) -> None:
    options: dict[str, Any] = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.78"}}
    statuses = [
        worker_browser.post(path, {"password": "not that one"}, **options).status_code
        for _ in range(PER_NAME + 1)
    ]
    assert statuses == [400] * PER_NAME + [429]
    assert worker_browser.post(path, {"password": PASSWORD}, **options).status_code == 429
