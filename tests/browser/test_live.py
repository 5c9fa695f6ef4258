"""The dashboard updates itself, and stays usable meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD, wait_in_page
from tests.browser.sessions import sign_in
from tests.support.leases import not_none


def figure(tab: Page, name: str) -> Any:
    return tab.locator(f".live-counts [data-number='{name}']")


def test_dashboard_updates_itself_and_keeps_focus(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(title="Triage", lease_seconds=300)
    queue.enqueue({"n": 1}, id="one")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(figure(tab, "counts.inbound")).to_have_text("1")
    expect(tab.get_by_text("Nobody is working right now")).to_be_visible()
    lease = queue.reserve("ann")
    assert lease
    row = tab.locator("tr", has_text="ann")
    expect(row).to_be_visible()
    expect(row.get_by_role("link")).to_have_attribute("href", f"/manage/{queue.name}/items/one")
    release_button = row.get_by_role("button", name="Release")
    release_button.press("Enter")
    expect(tab.locator("#release")).to_contain_text("ann")
    queue.enqueue_many([{"n": n} for n in range(1_200)])
    expect(figure(tab, "counts.inbound")).to_have_text("1,200")
    queue.finish(lease, {"done": True})
    expect(figure(tab, "counts.finished")).to_have_text("1")
    expect(row).to_have_class("removed")
    tab.keyboard.press("Escape")
    expect(release_button).to_be_focused()
    queue.pause("lunch")
    expect(tab.get_by_text("lunch")).to_be_visible()


def test_lease_is_released_from_row_added_by_live_update(
    tab: Page, manager: str, queue: leaseq.Queue
) -> None:
    queue.enqueue({"n": 1}, id="a/b c?d")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Nobody is working right now")).to_be_visible()
    queue.reserve("ann")
    tab.locator("tr", has_text="ann").get_by_role("button", name="Release").press("Enter")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Nobody is working right now")).to_be_visible()
    assert queue.stats().inbound == 1


def test_dead_item_appears_with_its_reason(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue({"n": 1}, id="bad")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Needs attention: nothing right now")).to_be_visible()
    lease = queue.reserve("ann")
    assert lease
    queue.fail(lease, "torn page")
    reason = tab.get_by_role("link", name="torn page")
    expect(reason).to_be_visible()
    expect(reason).to_have_attribute(
        "href", f"/manage/{queue.name}/items?state=dead&outcome=failed&text=torn+page"
    )
    expect(tab.get_by_text("Needs attention: nothing right now")).to_be_hidden()


def test_cards_appear_and_disappear_by_themselves(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    for id in ("torn", "odd", "one"):
        queue.enqueue({"text": id}, id=id)
    sign_in(tab, manager)
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.goto(f"/manage/{queue.name}")
    quiet = tab.get_by_text("Needs attention: nothing right now")
    expect(quiet).to_be_visible()
    first_lease, second_lease = (not_none(queue.reserve(name)) for name in ("ann", "bob"))
    queue.fail(first_lease, "the page is torn")
    queue.abandon(second_lease, "ask the shop first")
    cards = tab.locator(".problem:visible")
    expect(cards.filter(has_text="2 reports and notes")).to_be_visible()
    expect(quiet).to_be_hidden()
    queue.assign("one", "long gone")
    free = cards.filter(has_text="1 waits only for long gone, who has no account")
    expect(free).to_be_in_viewport(ratio=1)
    check_accessibility(tab)
    free.get_by_role("button", name="Let anybody have them").press("Enter")
    expect(tab.get_by_role("heading", name="Let anybody have 1 item")).to_be_visible()
    tab.get_by_role("button", name="Let anybody have 1 item").press("Enter")
    expect(tab.get_by_text("Anybody can get 1 item now.")).to_be_visible()
    assert queue.get("one").assigned_to == ()
    tab.goto(f"/manage/{queue.name}")
    expect(cards.filter(has_text="1 failed")).to_contain_text("the page is torn 1")
    queue.revive("torn")
    expect(cards.filter(has_text="1 failed")).to_have_count(0)


def test_alert_appears_in_words_and_disappears(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>1",))
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    expect(tab.get_by_text("Needs attention: nothing right now")).to_be_visible()
    queue.enqueue_many([{"n": n} for n in range(2)])
    queue.clear()
    alert = tab.get_by_role("listitem").filter(has_text="The number of waiting items is above 1. since")
    expect(alert).to_be_visible()
    expect(tab.get_by_text("Needs attention: nothing right now")).to_be_hidden()
    expect(tab.locator("#announcements")).to_have_text("The number of waiting items is above 1.")
    check_accessibility(tab)
    tab.goto("/manage")
    link = tab.locator(f"[data-queue='{queue.name}']").get_by_role("link", name="1 alert")
    expect(link).to_be_visible()
    check_accessibility(tab)
    link.click()
    expect(tab.get_by_role("heading", name="Needs attention")).to_be_in_viewport()
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    queue.configure(alerts=())
    queue.clear()
    expect(tab.get_by_text("Needs attention: nothing right now")).to_be_visible()
    expect(alert).to_have_count(0)


def test_card_agrees_with_number_of_late_answers(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(title="Triage")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    for text in ("1 late answer in the last hour", "2 late answers in the last hour"):
        queue.enqueue({"n": 1}, id=text)
        lease = not_none(queue.reserve("ann"))
        queue.release(text)
        other_lease = not_none(queue.reserve("bob"))
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, {})
        queue.finish(other_lease, {})
        expect(tab.get_by_role("link", name=text, exact=True)).to_be_visible()
        tab.reload()
        expect(tab.get_by_role("link", name=text, exact=True)).to_be_visible()


def test_dashboard_polls_if_stream_is_unavailable(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(title="Triage")
    sign_in(tab, manager)
    response: dict[str, Any] = {"status": 503, "headers": {"Retry-After": "10"}, "body": ""}

    def refuse_stream(route: Route) -> None:
        stream = "event-stream" in route.request.headers["accept"]
        route.fulfill(**response) if stream else route.continue_()

    tab.route("**/live", refuse_stream)
    tab.clock.install()
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    queue.enqueue({"n": 1})
    wait_in_page(tab, figure(tab, "counts.inbound").filter(has_text="1"))
    expect(figure(tab, "counts.inbound")).to_have_text("1")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()


@pytest.mark.parametrize("path", ["/manage/{q}", "/manage"])
def test_signed_out_page_shows_notice_and_resumes_after_sign_in(
    tab: Page, manager: str, queue: leaseq.Queue, path: str
) -> None:
    queue.configure(title="Triage")
    sign_in(tab, manager)

    def refuse_stream(route: Route) -> None:  # as if the server had ended it
        stream = "event-stream" in route.request.headers["accept"]
        route.fulfill(status=503, body="") if stream else route.continue_()

    tab.route("**/live", refuse_stream)
    tab.clock.install()
    tab.goto(path.format(q=queue.name))
    tab.context.clear_cookies()
    note = tab.locator("[data-connection-state]", has_text="You are signed out: these figures are from")
    wait_in_page(tab, note)
    check_accessibility(tab)
    tab.get_by_role("main").get_by_role("link", name="Sign in").click()
    tab.get_by_label("Name").fill(manager)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(f"**{path.format(q=queue.name)}")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
