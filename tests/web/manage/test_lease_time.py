"""The lease time that the settings suggest from recent leases."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.webapp.manage.dashboard import lease_time
from tests.support.leases import finish_items
from tests.web.conftest import Browser
from tests.web.manage.settings_calls import base, save, settings_fields


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
    page = manager_browser.get(base(queue)).text
    assert "In the last hour 20 items were finished." in page
    assert "95 % of them were held for at most 50 s." in page
    assert "1 lease ran out." in page
    assert ">Use 2 min and save</button>" in page
    fields = settings_fields(manager_browser, queue)
    assert save(manager_browser, queue, fields, suggested="120 s", title="Letters").status_code == 303
    assert (queue.policy.lease_seconds, queue.policy.title) == (120, "Letters")
    assert "and save</button>" not in manager_browser.get(base(queue)).text, "it has taken effect"


def test_lease_time_is_not_suggested_from_too_few_items(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    finish_items(queue, 19)
    assert "and save</button>" not in manager_browser.get(base(queue)).text


def test_invalid_suggested_time_is_refused(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    response = save(manager_browser, queue, settings_fields(manager_browser, queue), suggested="soon")
    assert response.status_code == 400
    assert 'id="lease_seconds-error"' in response.text


def test_settings_index_links_to_sections(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    page = manager_browser.get(base(queue)).text
    index = page.partition('aria-label="Sections">')[2].partition("</nav>")[0]
    for name in ("work", "time"):
        assert f'href="#group-{name}"' in index
        assert f'id="group-{name}"' in page
