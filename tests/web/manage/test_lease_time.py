"""The lease time that the settings suggest from recent leases."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.webapp.manage.dashboard import lease_time
from tests.support.leases import finish_items
from tests.web.conftest import Browser
from tests.web.manage.settings_calls import base, change


@pytest.mark.parametrize(
    ("p95", "seconds"),
    [(0.2, 30), (15, 30), (15.1, 60), (59, 120), (240, 600), (7_000, 14_400), (90_000, 86_400)],
)
def test_suggested_lease_time_is_twice_95th_percentile_rounded(p95: float, seconds: int) -> None:
    assert lease_time(p95) == seconds


def test_suggested_lease_time_is_saved_with_typed_settings(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    finish_items(queue, 20)
    page = manager_browser.get(base(queue, "time")).text
    assert "In the last hour 20 items were finished." in page
    assert "95 % of them were held for at most 50 s." in page
    assert "1 lease ran out." in page
    assert ">Use 2 min and save</button>" in page
    assert change(manager_browser, queue, "time", suggested="120 s", holds="2").status_code == 303
    assert (queue.policy.lease_seconds, queue.policy.holds) == (120, 2)
    assert "and save</button>" not in manager_browser.get(base(queue, "time")).text, "it has taken effect"


def test_lease_time_is_not_suggested_from_too_few_items(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    finish_items(queue, 19)
    assert "and save</button>" not in manager_browser.get(base(queue, "time")).text


def test_invalid_suggested_time_is_refused(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    response = change(manager_browser, queue, "time", suggested="soon")
    assert response.status_code == 400
    assert 'id="lease_seconds-error"' in response.text
