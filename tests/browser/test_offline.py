"""Without network or server, no typed text is lost and no answer counts twice."""

from __future__ import annotations

import time

from playwright.sync_api import Page, Route, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.work_page import TRIAGE, YES_NO, begin, expect_item, fill_queue, result_of

NO_CONNECTION = "No connection to the server."


def test_answer_given_offline_is_sent_after_reconnection(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    tab.context.set_offline(True)
    tab.get_by_label("Note").fill("said offline")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text(NO_CONNECTION)).to_be_visible()
    expect(tab.get_by_label("Note")).to_have_value("said offline")
    check_accessibility(tab)
    tab.get_by_role("button", name="Edit the answer first").click()
    tab.get_by_label("Note").fill("said better")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text(NO_CONNECTION)).to_be_visible()
    tab.context.set_offline(False)
    expect_item(tab, "message 2")
    assert result_of(queue, "m1")["note"] == "said better"


def test_answer_refused_under_overload_is_sent_again(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, TRIAGE)
    times: list[float] = []

    def refuse_once(route: Route) -> None:
        if times:
            times.append(time.monotonic())
            route.continue_()
        else:
            times.append(time.monotonic())
            route.fulfill(status=503, headers={"Retry-After": "3"}, body="busy")

    tab.route("**/finish", refuse_once)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    tab.keyboard.press("q")
    tab.get_by_label("Note").fill("said while all were busy")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text("The server is overloaded.")).to_be_visible()
    expect(tab.get_by_label("Note")).to_have_value("said while all were busy")
    expect_item(tab, "message 2")
    assert result_of(queue, "m1")["note"] == "said while all were busy"
    assert queue.stats().counters["finished"] == 1
    first_time, second_time = times
    assert second_time - first_time > 2.5, "it waited as long as the answer said, not its own second"


def test_a_lost_reply_does_not_finish_twice(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO, holds=3)
    statuses: list[str] = []

    def lose_reply(route: Route) -> None:
        if statuses:
            route.continue_()
        else:
            statuses.append(str(route.fetch().status))
            route.abort()

    tab.route("**/finish", lose_reply)
    begin(tab, person, queue)
    tab.keyboard.press("1")
    expect_item(tab, "message 2")
    assert statuses == ["200"]
    assert result_of(queue, "m1") == {"ok": True}
    assert queue.stats().counters["finished"] == 1
    assert [lease.id for lease in queue.mine(person)] == ["m2"]


def reopen(tab: Page, queue: leaseq.Queue) -> Page:
    """Open the work page in a new tab, after this one was closed and the connection is back."""
    other_tab = tab.context.new_page()
    tab.close()
    tab.context.set_offline(False)
    other_tab.goto(f"/q/{queue.name}")
    return other_tab


def test_text_typed_offline_is_restored_after_tab_is_closed(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.context.set_offline(True)
    tab.keyboard.press("2")
    tab.get_by_label("Note").fill("typed offline")
    expect(tab.get_by_text("Kept in this browser: no connection")).to_be_visible()
    other_tab = reopen(tab, queue)
    expect(other_tab.get_by_text("What you typed in this browser at")).to_be_visible()
    expect(other_tab.get_by_label("Note")).to_have_value("typed offline")
    expect(other_tab.get_by_role("radio", name="refund")).to_be_checked()
    check_accessibility(other_tab)
    expect(other_tab.get_by_text("Draft saved")).to_be_visible()
    assert queue.mine(person)[0].draft == {"about": "refund", "note": "typed offline"}


def test_text_typed_while_the_draft_is_on_its_way_is_there_after_reload(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    """The server has the draft, whose response was lost, and what was typed after it is in this browser."""
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)

    def lose_response(route: Route) -> None:
        if "first" in (route.request.post_data or ""):
            route.fetch()
        route.abort()

    tab.route("**/draft", lose_response)
    tab.get_by_label("Note").fill("first")
    expect(tab.locator("#draft-status")).not_to_be_empty()
    assert queue.mine(person)[0].draft == {"note": "first"}
    tab.get_by_label("Note").fill("second")
    tab.reload()
    expect_item(tab, "message 1")
    expect(tab.get_by_label("Note")).to_have_value("second")


def test_text_typed_offline_does_not_overwrite_newer_draft(
    tab: Page, person: str, queue: leaseq.Queue
) -> None:
    fill_queue(queue, TRIAGE)
    begin(tab, person, queue)
    tab.context.set_offline(True)
    tab.get_by_label("Note").fill("typed here")
    expect(tab.get_by_text("Kept in this browser: no connection")).to_be_visible()
    (lease,) = queue.mine(person)
    queue.save_draft(lease, {"note": "typed on the phone"})
    other_tab = reopen(tab, queue)
    expect(other_tab.get_by_label("Note")).to_have_value("typed on the phone")
    other_tab.get_by_role("button", name="Use it").click()
    expect(other_tab.get_by_label("Note")).to_have_value("typed here")


def test_unsent_answer_is_sent_when_page_is_opened_again(tab: Page, person: str, queue: leaseq.Queue) -> None:
    fill_queue(queue, YES_NO)
    begin(tab, person, queue)
    tab.context.set_offline(True)
    tab.keyboard.press("1")
    expect(tab.get_by_text(NO_CONNECTION)).to_be_visible()
    queue.release("m1")
    assert queue.reserve("somebody else")
    other_tab = tab.context.new_page()
    tab.close()
    tab.context.set_offline(False)
    assert queue.reserve(person)
    other_tab.goto(f"/q/{queue.name}")
    expect_item(other_tab, "message 2")
    expect(
        other_tab.get_by_text("An answer that was waiting for the connection is sent now.")
    ).to_be_visible()
    (answer,) = queue.get("m1").late_answers or queue.get("m1").answers
    assert answer.result == {"ok": True}
