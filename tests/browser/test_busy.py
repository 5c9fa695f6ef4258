"""Who is turned away because all are busy sees a page that is one, and that goes on by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import SECRET, judge, sign_in
from webapp import create_app, shedding
from webapp.patience import WAITED
from webapp.settings import Settings

BUSY = "Too busy at this moment"


@pytest.fixture
def busy_once(server: Any) -> Callable[[Route], None]:
    """Answers the first request as a web process does that had no time for it, and lets the others go on."""
    app = create_app(Settings(redis_url=server.url, secret_key=SECRET))
    client = app.test_client(use_cookies=False)
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            return route.continue_()
        token = WAITED.set(3_600)
        try:
            request = route.request
            given = client.open(
                request.url,
                method=request.method,
                headers=request.all_headers(),
                data=request.post_data_buffer,
            )
        finally:
            WAITED.reset(token)
        return route.fulfill(status=given.status_code, headers=dict(given.headers), body=given.data)

    return answer


def test_the_page_is_one_and_leads_on(
    tab: Page, person: str, busy_once: Callable[[Route], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shedding, "AGAIN", (60, 60))
    sign_in(tab, person)
    tab.route("**/account", busy_once)
    tab.goto("/account")
    expect(tab.get_by_role("heading", name=BUSY)).to_be_visible()
    judge(tab)
    tab.get_by_role("link", name="Try again").click()
    expect(tab.get_by_role("heading", name="API tokens")).to_be_visible()


def test_it_asks_again_by_itself(
    tab: Page, person: str, busy_once: Callable[[Route], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shedding, "AGAIN", (1, 1))
    sign_in(tab, person)
    tab.route("**/account", busy_once)
    tab.goto("/account")
    expect(tab.get_by_role("heading", name="API tokens")).to_be_visible()


def test_what_was_sent_goes_out_again_by_itself(
    tab: Page, person: str, busy_once: Callable[[Route], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shedding, "AGAIN", (1, 1))
    sign_in(tab, person)
    tab.route("**/language", busy_once)
    tab.locator("#me summary").click()
    tab.locator("#me").get_by_role("button", name="Deutsch").click()
    expect(tab.locator("html")).to_have_attribute("lang", "de")
