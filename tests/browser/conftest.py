"""A real browser on a real gunicorn."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts, Passwords
from tests.browser.sessions import add_app
from tests.support.waiting import TIMEOUT
from tests.web.gunicorn_server import serve_app

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which(
    "chromium"
)  # the headless shell paints sooner
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",  # starting a process for each page takes longer than loading the page
]
SECRET = "a secret for tests that is long enough"
PASSWORD = "correct horse battery"
# The same as for other processes: only a failing test waits until the timeout.
TIMEOUT_MS = 1_000 * TIMEOUT
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The server, as the web app's user."""
    return server_of_pages


@pytest.fixture(scope="package")
def address(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web app that ends before tests of other folders run: it writes samples of all queues
    into the shared server, and those tests expect only their own keys."""
    settings = {
        "LEASEQ_WEBHOOK_ALLOW": "127.0.0.1",
        "LEASEQ_FILES": str(tmp_path_factory.mktemp("files")),
    }
    # The long poll of a closed tab keeps its thread for a while.
    with serve_app(server.url, SECRET, workers=2, threads=32, **settings) as url:
        add_app(create_app(Settings(redis_url=server.url, secret_key=SECRET)), url)
        yield url


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def accounts(server: Any) -> Accounts:
    passwords = Passwords(PasswordHasher.from_parameters(CHEAPEST))
    return Accounts(server.client, passwords=passwords)


@pytest.fixture
def person(accounts: Accounts, queue_name: str) -> str:
    """The name of a worker who has a password."""
    return accounts.add(f"ann of {queue_name}", by="test", password=PASSWORD).name


@pytest.fixture
def manager(accounts: Accounts, queue_name: str) -> str:
    """The name of a manager who has a password."""
    return accounts.add(f"boss of {queue_name}", by="test", role="manager", password=PASSWORD).name


class SharedContext:
    """A browser context that tests use one after another. Opening one for each of them, which starts a
    process and loads every file again, would take longer than most of the tests."""

    def __init__(self, chromium: Browser, address: str) -> None:
        self._chromium, self._address = chromium, address
        self._open()

    def _open(self) -> None:
        self.context = self._chromium.new_context(base_url=self._address)
        self.context.set_default_timeout(TIMEOUT_MS)
        self._first_page = self.context.new_page()  # its process serves the other pages as well
        self._first_page.goto("/healthz")

    def clear(self) -> None:
        """Forget what a test left in it. A clock that a test installed can't be removed from a context."""
        for page in self.context.pages:
            if page is not self._first_page:
                page.close()
        self.context.set_offline(False)
        if self._first_page.evaluate("!String(Date).includes('native code')"):
            self.context.close()
            self._open()
            return
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.context.unroute_all()
        self._first_page.evaluate("localStorage.clear()")


@pytest.fixture(scope="package")
def shared_context(chromium: Browser, address: str) -> SharedContext:
    return SharedContext(chromium, address)


@pytest.fixture
def tab(shared_context: SharedContext, address: str) -> Iterator[Page]:
    """An open tab. Page errors, CSP violations and requests to other origins fail the test."""
    page = shared_context.context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if "Content Security" in message.text else None
    )
    page.on(
        "request",
        lambda request: None if request.url.startswith((address, "data:")) else errors.append(request.url),
    )
    yield page
    shared_context.clear()
    assert errors == []


@pytest.fixture
def plain_tab(chromium: Browser, address: str) -> Iterator[Page]:
    """A tab of a browser without JavaScript."""
    with chromium.new_context(base_url=address, java_script_enabled=False) as context:
        context.set_default_timeout(TIMEOUT_MS)
        yield context.new_page()


def wait_in_page(tab: Page, locator: Locator) -> None:
    """Advance the page's installed clock until the page shows something that it polls for."""
    for _ in range(100):
        tab.clock.run_for(7_000)
        if locator.is_visible():
            return
    expect(locator).to_be_visible()


@pytest.fixture
def letters(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Letters", lease_seconds=600)
    for number in (1, 2, 3):
        queue.enqueue({"text": f"letter {number}"}, id=f"l{number}")
    return queue
