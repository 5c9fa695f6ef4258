"""Who finds nothing waits, and the next item comes by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import judge, sign_in

WAITING = "Waiting for the next item. It appears by itself."


@pytest.fixture
def letters(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Letters", lease_seconds=600)
    return queue


@pytest.fixture
def here(tab: Page, person: str, letters: leaseq.Queue) -> Page:
    """The page of somebody who is signed in and finds nothing."""
    sign_in(tab, person)
    return tab


def wait(tab: Page, queue: leaseq.Queue) -> None:
    tab.goto(f"/q/{queue.name}")
    expect(tab.get_by_text(WAITING)).to_be_visible()


def hide(tab: Page, state: str) -> None:
    """The tab goes into the background or comes back."""
    tab.evaluate(
        """state => {
          Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_the_next_item_comes_by_itself(here: Page, letters: leaseq.Queue) -> None:
    wait(here, letters)
    expect(here.get_by_text("All done.")).to_be_visible()
    expect(here.get_by_role("button", name="Look again")).to_be_hidden()
    judge(here)
    letters.enqueue({"text": "message 1"})
    expect(here.get_by_text("message 1")).to_be_visible()


def test_what_waits_already_is_not_taken_by_opening_the_page(
    here: Page, letters: leaseq.Queue, person: str
) -> None:
    letters.enqueue({"text": "message 1"})
    here.goto(f"/q/{letters.name}")
    expect(here.get_by_role("button", name="Next item")).to_be_focused()
    expect(here.get_by_text(WAITING)).to_have_count(0)
    assert letters.mine(person) == []


def test_the_reason_is_told_anew_when_it_changes(here: Page, letters: leaseq.Queue) -> None:
    answers = iter(["empty", "paused"])

    def reply(route: Route) -> None:
        reason = next(answers, None)
        if reason is None:
            return  # no answer for the rest of the test
        letters.pause("lunch")
        route.fulfill(status=204, headers={"Retry-After": "0", "X-Leaseq-Reason": reason})

    here.route("**/reserve", reply)
    wait(here, letters)
    expect(here.get_by_text("Paused: lunch. Nobody gets new items.")).to_be_visible()
    here.unroute_all(behavior="ignoreErrors")


def test_in_another_tab_the_title_tells(here: Page, letters: leaseq.Queue, person: str) -> None:
    wait(here, letters)
    hide(here, "hidden")
    letters.enqueue({"text": "message 1"})
    expect(here).to_have_title("● Your item is here · Letters")
    expect(here.get_by_role("link", name="Show it")).to_be_visible()
    assert [lease.person for lease in letters.mine(person)] == [person]
    hide(here, "visible")
    expect(here.get_by_text("message 1")).to_be_visible()
    expect(here).to_have_title("Letters · leaseq")


def test_a_hidden_tab_asks_no_more_until_it_is_seen(here: Page, letters: leaseq.Queue) -> None:
    asked: list[str] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    here.on("request", lambda one: asked.append(one.url) if one.url.endswith("/reserve") else None)
    here.route("**/reserve", hold)
    with here.expect_request("**/reserve"):
        wait(here, letters)
    hide(here, "hidden")
    with here.expect_response("**/nothing"):  # it looks why, and would ask again at once
        held[0].fulfill(status=204, headers={"Retry-After": "0", "X-Leaseq-Reason": "held"})
    for _turn in range(20):
        here.evaluate("new Promise((done) => setTimeout(done))")
    assert len(asked) == 1
    with here.expect_request("**/reserve"):
        hide(here, "visible")
    here.unroute_all(behavior="ignoreErrors")


def test_stop_and_wait_again_by_the_keyboard(here: Page, letters: leaseq.Queue) -> None:
    here.route(
        "**/reserve",
        lambda route: route.fulfill(status=204, headers={"Retry-After": "60", "X-Leaseq-Reason": "empty"}),
    )
    with here.expect_response("**/reserve"):
        wait(here, letters)
    here.get_by_role("button", name="Stop waiting").press("Enter")
    expect(here.get_by_text("You stopped waiting.", exact=True)).to_be_visible()
    again = here.get_by_role("button", name="Wait for the next one")
    expect(again).to_be_focused()
    here.unroute_all()
    again.press("Enter")
    expect(here.get_by_text(WAITING)).to_be_visible()
    letters.enqueue({"text": "message 1"})
    expect(here.get_by_text("message 1")).to_be_visible()


def test_a_server_that_is_away_is_asked_again_and_again(here: Page, letters: leaseq.Queue) -> None:
    asked: list[Route] = []

    def reply(route: Route) -> None:
        asked.append(route)
        if len(asked) in (1, 3):
            route.abort()
        elif len(asked) == 2:
            route.fulfill(status=503)
        else:
            route.continue_()

    here.clock.install()
    here.route("**/reserve", reply)
    here.goto(f"/q/{letters.name}")
    expect(here.get_by_text("No answer from the server. Trying again.")).to_be_visible()
    letters.enqueue({"text": "message 1"})
    for _second in range(200):  # far more than it pauses
        if len(asked) < 4:
            here.clock.run_for(1_000)
    expect(here.get_by_text("message 1")).to_be_visible()


def test_who_went_away_is_not_given_what_would_only_run_out(here: Page, letters: leaseq.Queue) -> None:
    here.clock.install()
    here.route(
        "**/reserve",
        lambda route: route.fulfill(status=204, headers={"Retry-After": "30", "X-Leaseq-Reason": "empty"}),
    )
    with here.expect_response("**/reserve"):
        wait(here, letters)
    here.clock.fast_forward("16:00")
    expect(here.get_by_text("Waiting stopped, because you were inactive for a while.")).to_be_visible()
    with here.expect_request("**/reserve"):
        here.get_by_role("button", name="Wait for the next one").click()


def test_a_session_that_ended_is_said(
    here: Page, letters: leaseq.Queue, accounts: Accounts, person: str
) -> None:
    def reply(route: Route) -> None:
        accounts.end_sessions(person, by="test")
        route.continue_()

    here.route("**/reserve", reply)
    here.goto(f"/q/{letters.name}")
    expect(here.get_by_text("You are signed out.")).to_be_visible()
    link = here.get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", f"/login?next=/q/{letters.name}")
