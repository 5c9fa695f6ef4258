"""Sign-in through an identity provider in a real browser, with and without JavaScript, up to the account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD, SECRET, TIMEOUT_MS
from tests.web.auth.oidc_provider import CLIENT, CLIENT_SECRET, Provider, provider_running
from tests.web.gunicorn_server import run_gunicorn


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with provider_running() as oidc_provider:
        yield oidc_provider


@pytest.fixture(scope="module")
def app_url(server: Any, provider: Provider) -> Iterator[str]:
    settings: dict[str, Any] = {
        "LEASEQ_OIDC_ISSUER": provider.url,
        "LEASEQ_OIDC_CLIENT_ID": CLIENT,
        "LEASEQ_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "LEASEQ_OIDC_CLAIM": "preferred_username",
    }
    with run_gunicorn(server.url, SECRET, workers=1, threads=8, **settings) as (url, _):
        yield url


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def tab(request: pytest.FixtureRequest, chromium: Browser, app_url: str) -> Iterator[Page]:
    with chromium.new_context(base_url=app_url, java_script_enabled=request.param) as context:
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        page.has_scripts = request.param  # type: ignore[attr-defined]
        yield page


def check_both_schemes(tab: Page) -> None:
    if not tab.has_scripts:  # type: ignore[attr-defined]
        return  # axe is a script
    for scheme, width in (("dark", 320), ("light", 1280)):
        tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        tab.set_viewport_size({"width": width, "height": 800})
        check_accessibility(tab)


def test_password_confirmation_links_account_to_provider_once(
    accounts: Accounts, person: str, provider: Provider, tab: Page
) -> None:
    provider.claims = {"sub": f"sub of {person}", "preferred_username": person}
    tab.goto("/login?next=/account")
    tab.get_by_role("link", name="Sign in with your organisation").click()
    tab.get_by_role("heading", name="Is this your account?").wait_for()
    check_both_schemes(tab)
    tab.get_by_label("leaseq password of").fill("not that one")
    tab.keyboard.press("Enter")
    tab.get_by_text("That is not the leaseq password").wait_for()
    check_both_schemes(tab)
    tab.get_by_label("leaseq password of").fill(PASSWORD)
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name=person).wait_for()
    tab.context.clear_cookies()
    tab.goto("/login?next=/account")
    tab.get_by_role("link", name="Sign in with your organisation").click()
    tab.get_by_role("heading", name=person).wait_for()


def test_admin_links_account_without_password_to_provider(
    accounts: Accounts, queue_name: str, provider: Provider, tab: Page
) -> None:
    admin = accounts.add(f"meg of {queue_name}", by="test", role="admin", password=PASSWORD).name
    linked_manager = accounts.add(f"max of {queue_name}", by="test", role="manager").name
    provider.claims = {"sub": f"sub of {linked_manager}", "preferred_username": linked_manager}
    tab.goto("/login/provider")
    tab.get_by_text("Ask an admin to let it").wait_for()
    check_both_schemes(tab)
    tab.get_by_label("Name").fill(admin)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.goto(f"/people/{linked_manager}")
    tab.get_by_text("Link to the identity provider …").click()
    check_both_schemes(tab)
    tab.get_by_role("button", name="Link this account").click()
    tab.get_by_text("within three days").first.wait_for()
    tab.context.clear_cookies()
    tab.goto("/login/provider?next=/account")
    tab.get_by_role("heading", name=linked_manager).wait_for()
