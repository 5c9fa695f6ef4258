"""A person who finds no item waits, and the next item comes by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import check_accessibility, sign_in

WAITING_TEXT = "Waiting for the next item. It appears by itself."


@pytest.fixture
def letters(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Letters", lease_seconds=600)
    return queue


@pytest.fixture
def worker_tab(tab: Page, person: str, letters: leaseq.Queue) -> Page:
    """The page of a signed-in person for whom there is no item."""
    sign_in(tab, person)
    return tab


def wait(tab: Page, queue: leaseq.Queue) -> None:
    tab.goto(f"/q/{queue.name}")
    expect(tab.get_by_text(WAITING_TEXT)).to_be_visible()


def set_visibility(tab: Page, state: str) -> None:
    """Send the tab into the background or bring it back."""
    tab.evaluate(
        """state => {
          Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_the_next_item_comes_by_itself(worker_tab: Page, letters: leaseq.Queue) -> None:
    wait(worker_tab, letters)
    expect(worker_tab.get_by_text("All done.")).to_be_visible()
    expect(worker_tab.get_by_role("button", name="Look again")).to_be_hidden()
    check_accessibility(worker_tab)
    letters.enqueue({"text": "message 1"})
    expect(worker_tab.get_by_text("message 1")).to_be_visible()


def test_what_waits_already_is_not_taken_by_opening_the_page(
    worker_tab: Page, letters: leaseq.Queue, person: str
) -> None:
    letters.enqueue({"text": "message 1"})
    worker_tab.goto(f"/q/{letters.name}")
    expect(worker_tab.get_by_role("button", name="Next item")).to_be_focused()
    expect(worker_tab.get_by_text(WAITING_TEXT)).to_have_count(0)
    assert letters.mine(person) == []


def test_the_reason_is_told_anew_when_it_changes(worker_tab: Page, letters: leaseq.Queue) -> None:
    reasons = iter(["empty", "paused"])

    def give_reason(route: Route) -> None:
        reason = next(reasons, None)
        if reason is None:
            return  # no answer for the rest of the test
        letters.pause("lunch")
        route.fulfill(status=204, headers={"Retry-After": "0", "X-Leaseq-Reason": reason})

    worker_tab.route("**/reserve", give_reason)
    wait(worker_tab, letters)
    expect(worker_tab.get_by_text("Paused: lunch. Nobody gets new items.")).to_be_visible()
    worker_tab.unroute_all(behavior="ignoreErrors")


def test_in_another_tab_the_title_tells(worker_tab: Page, letters: leaseq.Queue, person: str) -> None:
    wait(worker_tab, letters)
    set_visibility(worker_tab, "hidden")
    letters.enqueue({"text": "message 1"})
    expect(worker_tab).to_have_title("● Your item is here · Letters")
    expect(worker_tab.get_by_role("link", name="Show it")).to_be_visible()
    assert [lease.person for lease in letters.mine(person)] == [person]
    set_visibility(worker_tab, "visible")
    expect(worker_tab.get_by_text("message 1")).to_be_visible()
    expect(worker_tab).to_have_title("Letters · leaseq")


def test_a_hidden_tab_asks_no_more_until_it_is_seen(worker_tab: Page, letters: leaseq.Queue) -> None:
    urls: list[str] = []
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route)

    worker_tab.on(
        "request", lambda request: urls.append(request.url) if request.url.endswith("/reserve") else None
    )
    worker_tab.route("**/reserve", hold)
    with worker_tab.expect_request("**/reserve"):
        wait(worker_tab, letters)
    set_visibility(worker_tab, "hidden")
    # The page asks for the reason, and would ask for an item again immediately.
    with worker_tab.expect_response("**/why-nothing"):
        routes[0].fulfill(status=204, headers={"Retry-After": "0", "X-Leaseq-Reason": "held"})
    for _turn in range(20):
        worker_tab.evaluate("new Promise((done) => setTimeout(done))")
    assert len(urls) == 1
    with worker_tab.expect_request("**/reserve"):
        set_visibility(worker_tab, "visible")
    worker_tab.unroute_all(behavior="ignoreErrors")


def test_stop_and_wait_again_by_the_keyboard(worker_tab: Page, letters: leaseq.Queue) -> None:
    worker_tab.route(
        "**/reserve",
        lambda route: route.fulfill(status=204, headers={"Retry-After": "60", "X-Leaseq-Reason": "empty"}),
    )
    with worker_tab.expect_response("**/reserve"):
        wait(worker_tab, letters)
    worker_tab.get_by_role("button", name="Stop waiting").press("Enter")
    expect(worker_tab.get_by_text("You stopped waiting.", exact=True)).to_be_visible()
    wait_button = worker_tab.get_by_role("button", name="Wait for the next one")
    expect(wait_button).to_be_focused()
    worker_tab.unroute_all()
    wait_button.press("Enter")
    expect(worker_tab.get_by_text(WAITING_TEXT)).to_be_visible()
    letters.enqueue({"text": "message 1"})
    expect(worker_tab.get_by_text("message 1")).to_be_visible()


def test_a_server_that_is_away_is_asked_again_and_again(worker_tab: Page, letters: leaseq.Queue) -> None:
    routes: list[Route] = []

    def fail_three_times(route: Route) -> None:
        routes.append(route)
        if len(routes) in (1, 3):
            route.abort()
        elif len(routes) == 2:
            route.fulfill(status=503)
        else:
            route.continue_()

    worker_tab.clock.install()
    worker_tab.route("**/reserve", fail_three_times)
    worker_tab.goto(f"/q/{letters.name}")
    expect(worker_tab.get_by_text("No answer from the server. Trying again.")).to_be_visible()
    letters.enqueue({"text": "message 1"})
    for _second in range(200):  # far longer than its pauses
        if len(routes) < 4:
            worker_tab.clock.run_for(1_000)
    expect(worker_tab.get_by_text("message 1")).to_be_visible()


def test_who_went_away_is_not_given_what_would_only_run_out(worker_tab: Page, letters: leaseq.Queue) -> None:
    worker_tab.clock.install()
    worker_tab.route(
        "**/reserve",
        lambda route: route.fulfill(status=204, headers={"Retry-After": "30", "X-Leaseq-Reason": "empty"}),
    )
    with worker_tab.expect_response("**/reserve"):
        wait(worker_tab, letters)
    worker_tab.clock.fast_forward("16:00")
    expect(worker_tab.get_by_text("Waiting stopped, because you were inactive for a while.")).to_be_visible()
    with worker_tab.expect_request("**/reserve"):
        worker_tab.get_by_role("button", name="Wait for the next one").click()


def test_a_session_that_ended_is_said(
    worker_tab: Page, letters: leaseq.Queue, accounts: Accounts, person: str
) -> None:
    def end_session(route: Route) -> None:
        accounts.end_sessions(person, by="test")
        route.continue_()

    worker_tab.route("**/reserve", end_session)
    worker_tab.goto(f"/q/{letters.name}")
    expect(worker_tab.get_by_text("You are signed out.")).to_be_visible()
    link = worker_tab.get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", f"/login?next=/q/{letters.name}")
