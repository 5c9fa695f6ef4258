"""The work page without an item waits, and shows the next item automatically."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in

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


def test_next_item_appears_automatically(worker_tab: Page, letters: leaseq.Queue) -> None:
    wait(worker_tab, letters)
    expect(worker_tab.get_by_text("All done.")).to_be_visible()
    expect(worker_tab.get_by_role("button", name="Look again")).to_be_hidden()
    check_accessibility(worker_tab)
    letters.enqueue({"text": "message 1"})
    expect(worker_tab.get_by_text("message 1")).to_be_visible()


def test_opening_page_does_not_reserve_waiting_item(
    worker_tab: Page, letters: leaseq.Queue, person: str
) -> None:
    letters.enqueue({"text": "message 1"})
    worker_tab.goto(f"/q/{letters.name}")
    expect(worker_tab.get_by_role("button", name="Next item")).to_be_focused()
    expect(worker_tab.get_by_text(WAITING_TEXT)).to_have_count(0)
    assert letters.mine(person) == []


def test_changed_reason_for_waiting_is_shown(worker_tab: Page, letters: leaseq.Queue) -> None:
    reasons = iter(["empty", "paused"])

    def give_reason(route: Route) -> None:
        reason = next(reasons, None)
        if reason is None:
            return  # leaves the request open for the rest of the test
        letters.pause("lunch")
        route.fulfill(status=204, headers={"Retry-After": "0", "X-Leaseq-Reason": reason})

    worker_tab.route("**/reserve", give_reason)
    wait(worker_tab, letters)
    expect(worker_tab.get_by_text("Paused: lunch. Nobody gets new items.")).to_be_visible()
    worker_tab.unroute_all(behavior="ignoreErrors")


def test_hidden_tab_shows_arrived_item_in_its_title(
    worker_tab: Page, letters: leaseq.Queue, person: str
) -> None:
    wait(worker_tab, letters)
    set_visibility(worker_tab, "hidden")
    letters.enqueue({"text": "message 1"})
    expect(worker_tab).to_have_title("● Your item is here · Letters")
    expect(worker_tab.get_by_role("link", name="Show it")).to_be_visible()
    assert [lease.person for lease in letters.mine(person)] == [person]
    set_visibility(worker_tab, "visible")
    expect(worker_tab.get_by_text("message 1")).to_be_visible()
    expect(worker_tab).to_have_title("Letters · leaseq")


def test_hidden_tab_sends_no_reserve_request_until_visible(worker_tab: Page, letters: leaseq.Queue) -> None:
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
    # The page asks for the reason; a visible one would send the next request.
    with worker_tab.expect_response("**/why-nothing"):
        routes[0].fulfill(status=204, headers={"Retry-After": "0", "X-Leaseq-Reason": "held"})
    for _turn in range(20):
        worker_tab.evaluate("new Promise((done) => setTimeout(done))")
    assert len(urls) == 1
    with worker_tab.expect_request("**/reserve"):
        set_visibility(worker_tab, "visible")
    worker_tab.unroute_all(behavior="ignoreErrors")


def test_waiting_is_stopped_and_resumed_by_keyboard(worker_tab: Page, letters: leaseq.Queue) -> None:
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


def test_page_retries_until_server_is_available(worker_tab: Page, letters: leaseq.Queue) -> None:
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
    for _second in range(200):  # far longer than the page's retry delays
        if len(routes) < 4:
            worker_tab.clock.run_for(1_000)
    expect(worker_tab.get_by_text("message 1")).to_be_visible()


def test_waiting_stops_after_inactivity(worker_tab: Page, letters: leaseq.Queue) -> None:
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


def test_ended_session_shows_sign_in_link(
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
