"""The page for a request that is refused under overload, which retries automatically."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from leaseq.webapp import create_app
from leaseq.webapp.serving import middleware
from leaseq.webapp.serving.middleware import RequestSlots
from leaseq.webapp.settings import Settings
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import SECRET
from tests.browser.sessions import sign_in

BUSY = "Too busy right now"


RefuseFirst = Callable[[str, int], None]


@pytest.fixture
def refuse_first(tab: Page, person: str, server: Any, monkeypatch: pytest.MonkeyPatch) -> RefuseFirst:
    """Sign a person in, and refuse their first request for a path as overloaded, with this retry time."""
    app = create_app(Settings(redis_url=server.url, secret_key=SECRET))
    client = app.test_client(use_cookies=False)

    def refuse(route: Route, request: Request) -> None:
        headers, body = request.all_headers(), request.post_data_buffer
        with monkeypatch.context() as patch:
            patch.setattr(RequestSlots, "acquire", lambda _: 3_600)
            response = client.open(request.url, method=request.method, headers=headers, data=body)
        route.fulfill(status=response.status_code, headers=dict(response.headers), body=response.data)

    def prepare(path: str, seconds: int) -> None:
        monkeypatch.setattr(middleware, "RETRY_AFTER", (seconds, seconds))
        sign_in(tab, person)
        tab.route(path, refuse, times=1)

    return prepare


def test_overload_page_is_accessible_and_links_to_retry(tab: Page, refuse_first: RefuseFirst) -> None:
    refuse_first("**/account", 60)
    tab.goto("/account")
    expect(tab.get_by_role("heading", name=BUSY)).to_be_visible()
    check_accessibility(tab)
    tab.get_by_role("link", name="Try again").click()
    expect(tab.get_by_role("heading", name="API tokens")).to_be_visible()


def test_overload_page_reloads_automatically(tab: Page, refuse_first: RefuseFirst) -> None:
    refuse_first("**/account", 1)
    tab.goto("/account")
    expect(tab.get_by_role("heading", name="API tokens")).to_be_visible()


def test_refused_form_is_resubmitted_automatically(tab: Page, refuse_first: RefuseFirst) -> None:
    refuse_first("**/language", 1)
    tab.goto("/")
    tab.locator("#person-menu summary").click()
    tab.locator("#person-menu").get_by_role("button", name="Deutsch").click()
    expect(tab.locator("html")).to_have_attribute("lang", "de")
