"""A manager's session ends while a page is open. The page continues after sign-in in another tab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PASSWORD, wait_in_page
from tests.browser.sessions import sign_in


@pytest.fixture
def manager(accounts: Accounts, queue: leaseq.Queue) -> str:
    queue.configure(title="Triage")
    return accounts.add(f"boss of {queue.name}", by="test", role="manager", password=PASSWORD).name


def sign_in_elsewhere(tab: Page, name: str) -> None:
    other_tab = tab.context.new_page()
    sign_in(other_tab, name)
    other_tab.close()


def test_dashboard_continues_after_sign_in_in_another_tab(
    tab: Page, manager: str, queue: leaseq.Queue
) -> None:
    queue.enqueue({"n": 1}, id="one")
    queue.reserve("ann")
    sign_in(tab, manager)

    def refuse_stream(route: Route) -> None:  # as if the server had ended it
        stream = "event-stream" in route.request.headers["accept"]
        route.fulfill(status=503, body="") if stream else route.continue_()

    tab.route("**/live", refuse_stream)
    tab.clock.install()
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    tab.context.clear_cookies()
    wait_in_page(tab, tab.locator("[data-connection-state]", has_text="You are signed out"))
    held_request = HeldRequest(tab, "GET")
    tab.route("**/work/session", held_request)
    sign_in_elsewhere(tab, manager)
    while not held_request.routes:  # the test's own limit ends this
        tab.clock.run_for(7_000)
    expect(tab.get_by_text("Live", exact=True)).to_have_count(0)  # the forms can't be sent yet
    held_request.routes[0].continue_()
    wait_in_page(tab, tab.get_by_text("Live", exact=True))
    tab.locator("tr", has_text="ann").get_by_role("button", name="Release").click()
    tab.get_by_role("dialog", name="Release").get_by_role("button", name="Release").click()
    expect(tab.get_by_text("Nobody is working right now")).to_be_visible()
    assert queue.get("one").state == "inbound"


def choose_file(tab: Page, manager: str, queue: leaseq.Queue, folder: Path, text: str) -> None:
    """Sign in, and choose a file with this text on the import page."""
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/import")
    file = folder / "rows.csv"
    file.write_text(text)
    tab.get_by_label("File").set_input_files(file)


def test_import_reports_sign_out_and_continues_after_sign_in(
    tab: Page, manager: str, queue: leaseq.Queue, tmp_path: Path
) -> None:
    choose_file(tab, manager, queue, tmp_path, "nr,text\n1,one\n2,two\n")
    expect(tab.get_by_role("region", name="The first rows")).to_be_visible()
    tab.context.clear_cookies()
    tab.get_by_role("button", name="Import").click()
    note = tab.get_by_text("You are signed out. Your file is still chosen")
    expect(note).to_have_count(1)
    tab.locator(".reading > summary").click()
    tab.get_by_label("Format").select_option("csv")
    expect(note).to_have_count(1)
    sign_in_elsewhere(tab, manager)
    tab.get_by_role("button", name="Import").click()
    expect(tab.get_by_text("2 added, 0 duplicates, 0 skipped.")).to_be_visible()
    assert queue.stats().inbound == 2


class HeldRequest:
    """Holds the first matching request until the session has ended."""

    def __init__(self, tab: Page, method: str, text: str = "") -> None:
        self.tab, self.method, self.text = tab, method, text
        self.routes: list[Route] = []

    def __call__(self, route: Route) -> None:
        request = route.request
        if not self.routes and request.method == self.method and self.text in (request.post_data or ""):
            self.routes.append(route)
        else:
            route.continue_()

    def end_session(self) -> None:
        for _ in range(300):
            if self.routes:
                break
            self.tab.wait_for_timeout(50)
        self.tab.context.clear_cookies()
        self.routes[0].continue_()


def test_import_progress_page_survives_sign_out(
    tab: Page, manager: str, queue: leaseq.Queue, tmp_path: Path
) -> None:
    choose_file(tab, manager, queue, tmp_path, "nr\n1\n")
    held_request = HeldRequest(tab, "GET")
    tab.route(re.compile(r"/import/[\w-]{16}$"), held_request)
    tab.get_by_role("button", name="Import").click()
    expect(tab.get_by_text("The whole file is sent.")).to_be_visible()
    held_request.end_session()
    note = tab.locator("#state").get_by_text("You are signed out")
    expect(note).to_be_visible()
    expect(tab.get_by_label("Password")).to_have_count(0)
    sign_in_elsewhere(tab, manager)
    expect(tab.get_by_text("1 added, 0 duplicates, 0 skipped.")).to_be_visible()
    expect(note).to_have_count(0)


def test_bulk_action_reports_sign_out_and_continues_after_sign_in(
    tab: Page, manager: str, queue: leaseq.Queue
) -> None:
    queue.enqueue_many(leaseq.NewItem({}, id=f"n-{n:03}") for n in range(240))
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/items?state=inbound")
    tab.get_by_role("checkbox", name="Select n-000").check()
    tab.get_by_label("All 240 in this list").check()
    tab.get_by_role("button", name="Remove").click()
    held_request = HeldRequest(tab, "POST", "done=100")
    tab.route("**/bulk/do", held_request)
    tab.get_by_role("button", name="Remove 240 items").click()
    expect(tab.get_by_text("Removed 100 items.")).to_be_visible()
    held_request.end_session()
    note = tab.get_by_text("You are signed out. The steps so far are done")
    expect(note).to_be_visible()
    sign_in_elsewhere(tab, manager)
    tab.get_by_role("button", name="Continue").click()
    expect(tab.get_by_text("Removed 240 items.")).to_be_visible()
    expect(note).to_be_hidden()
    assert queue.stats().inbound == 0
