"""The dashboard updates itself, and stays usable meanwhile."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD, wait_in_page
from tests.browser.sessions import sign_in
from tests.support.leases import not_none

WINDOWS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1280, "light"), (320, "dark"))


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
    release_summary = row.locator("summary")
    release_summary.focus()
    release_summary.press("Enter")
    queue.enqueue_many([{"n": n} for n in range(1_200)])
    expect(figure(tab, "counts.inbound")).to_have_text("1,200")
    queue.finish(lease, {"done": True})
    expect(figure(tab, "counts.finished")).to_have_text("1")
    expect(row).to_have_class("removed")
    expect(release_summary).to_be_focused()
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
    tab.locator("tr", has_text="ann").locator("summary").click()
    tab.get_by_role("button", name="Release").click()
    expect(tab.get_by_text("Nobody is working right now")).to_be_visible()
    assert queue.stats().inbound == 1


def test_dead_item_appears_with_its_reason(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue({"n": 1}, id="bad")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Nothing right now.")).to_be_visible()
    lease = queue.reserve("ann")
    assert lease
    queue.fail(lease, "torn page")
    reason = tab.get_by_role("link", name="torn page")
    expect(reason).to_be_visible()
    expect(reason).to_have_attribute(
        "href", f"/manage/{queue.name}/items?state=dead&outcome=failed&text=torn+page"
    )
    expect(tab.get_by_text("Nothing right now.")).to_be_hidden()


def test_reports_and_notes_appear_and_can_be_acted_on(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1)
    for id in ("torn", "odd", "bad"):
        queue.enqueue({"text": id}, id=id)
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Nothing right now.")).to_be_visible()
    first_lease, second_lease, third_lease = (not_none(queue.reserve(name)) for name in ("ann", "bob", "cyd"))
    queue.fail(first_lease, "the page is torn")
    queue.abandon(second_lease, "ask the shop first")
    queue.fail(third_lease, "no text at all")
    rows = tab.locator(".report")
    expect(rows).to_have_count(3)
    expect(tab.get_by_role("heading", name="3 reports and notes")).to_be_visible()
    expect(tab.get_by_text("Nothing right now.")).to_be_hidden()
    check_accessibility(tab)
    torn_row, odd_row, bad_row = (rows.filter(has_text=words) for words in ("torn", "shop", "no text"))
    expect(torn_row).to_contain_text("ann reported a problem")
    expect(torn_row.get_by_role("link", name="Fix the payload")).to_be_hidden()
    expect(odd_row).to_contain_text("bob gave it back")
    expect(odd_row.get_by_role("button", name="Hand out")).to_be_hidden()
    bad_row.get_by_role("link", name="bad", exact=True).click()
    expect(tab.get_by_role("heading", name="bad", exact=True)).to_be_visible()
    tab.go_back()
    bad_row.locator("summary").click()
    bad_row.get_by_role("button", name="Remove permanently").click()
    expect(tab.get_by_text("The item bad is removed.")).to_be_visible()
    torn_row.get_by_role("button", name="Hand out again").click()
    expect(tab.get_by_text("It is waiting again, with all its attempts.")).to_be_visible()
    assert queue.get("torn").state == "inbound"
    tab.goto(f"/manage/{queue.name}")
    odd_row.get_by_role("link", name="Fix the payload").click()
    expect(tab.get_by_label("Payload, as JSON")).to_be_visible()
    tab.get_by_label("Payload, as JSON").fill('{"text": "odd, but right"}')
    tab.get_by_role("button", name="Save changes").click()
    tab.wait_for_url(f"**/manage/{queue.name}/items/odd*")
    assert queue.get("odd").payload == {"text": "odd, but right"}


def test_alert_appears_in_words_and_disappears(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>1",))
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    expect(tab.get_by_text("Nothing right now.")).to_be_visible()
    queue.enqueue_many([{"n": n} for n in range(2)])
    queue.clear()
    expect(tab.get_by_role("heading", name="1 alert", exact=True)).to_be_visible()
    expect(
        tab.get_by_role("listitem").filter(has_text="The number of waiting items is above 1. since")
    ).to_be_visible()
    expect(tab.get_by_text("Nothing right now.")).to_be_hidden()
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
    expect(tab.get_by_text("Nothing right now.")).to_be_visible()
    expect(tab.get_by_role("heading", name="1 alert", exact=True)).to_be_hidden()


def test_heading_agrees_with_number_of_late_answers(tab: Page, manager: str, queue: leaseq.Queue) -> None:
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
        expect(tab.get_by_role("heading", name=text, exact=True)).to_be_visible()
        tab.reload()
        expect(tab.get_by_role("heading", name=text, exact=True)).to_be_visible()


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


def is_read_before(tab: Page, first_id: str, second_id: str) -> bool:
    """Whether the heading is above or left of the other, as in the page's text: then the Tab key follows the
    visual order."""
    first_box, second_box = (not_none(tab.locator(f"#{id}").bounding_box()) for id in (first_id, second_id))
    return (first_box["y"], first_box["x"]) < (second_box["y"], second_box["x"])


def test_dashboard_is_accessible(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(title="Support triage", max_attempts=1)
    queue.enqueue_many([{"n": n} for n in range(30)])
    for person in ("ann", "bob", "cyd"):
        lease = queue.reserve(person)
        assert lease
        queue.abandon(lease)
    failed_lease = queue.reserve("dan")
    assert failed_lease
    queue.fail(failed_lease, "torn page")
    queue.reserve("ann")
    finished_lease = queue.reserve("bob")
    assert finished_lease
    queue.finish(finished_lease, {})
    sign_in(tab, manager)
    for path in (f"/manage/{queue.name}", "/manage"):
        tab.goto(path)
        for width, scheme in WINDOWS:
            tab.emulate_media(color_scheme=scheme)
            tab.set_viewport_size({"width": width, "height": 900})
            check_accessibility(tab)
        tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(f"/manage/{queue.name}")
    assert is_read_before(tab, "in-work", "attention"), "side by side"
    tab.locator(".current-leases summary").last.focus()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('.attention') !== null"), "also by Tab"
    for summary in tab.locator("main details > summary").all():
        summary.click()
    check_accessibility(tab)
