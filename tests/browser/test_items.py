"""A manager's pages of items in a real browser: by keyboard, many items at a time, in both schemes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Dialog, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.support.leases import not_none
from tests.support.waiting import eventually


@pytest.fixture
def queue_of_dead(queue: leaseq.Queue) -> leaseq.Queue:
    """120 dead items of two people; the odd ones have a different error."""
    queue.configure(title="Triage", max_attempts=1)
    queue.enqueue_many(leaseq.NewItem({"text": f"message {n}"}, id=f"m-{n:03}") for n in range(120))
    for n in range(120):
        queue.fail(
            not_none(queue.reserve(("ann", "bob")[n % 2])), "the scan is unreadable" if n % 2 else "page 404"
        )
    return queue


def check_both_schemes(tab: Page) -> None:
    """Check the page wide and light, then narrow and dark."""
    check_accessibility(tab)
    tab.set_viewport_size({"width": 320, "height": 900})
    tab.emulate_media(color_scheme="dark")
    check_accessibility(tab, only_look=True)
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.emulate_media(color_scheme="light")


def test_filtered_items_are_selected_and_revived_by_keyboard(
    tab: Page, manager: str, queue_of_dead: leaseq.Queue
) -> None:
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue_of_dead.name}/items?state=dead&order=oldest")
    tab.locator("summary", has_text="Filters").press("Enter")
    tab.get_by_role("textbox", name="Comment contains").focus()
    tab.keyboard.type("unreadable")
    tab.keyboard.press("Enter")
    expect(tab.locator("#found")).to_have_text("60 found")
    check_both_schemes(tab)
    tab.get_by_role("checkbox", name="Select m-001").focus()
    for _ in range(3):
        tab.keyboard.press("Space")
        tab.keyboard.press("Tab")  # the item's link
        tab.keyboard.press("Tab")
    expect(tab.get_by_text("Selected (3)")).to_be_visible()
    tab.get_by_role("checkbox", name="Select all on this page").focus()
    tab.keyboard.press("Space")
    expect(tab.get_by_text("Selected (50)")).to_be_visible()
    tab.keyboard.press("Space")
    expect(tab.get_by_text("Selected (0)")).to_be_hidden()
    tab.get_by_role("checkbox", name="Select m-003").focus()
    tab.keyboard.press("Space")
    tab.get_by_role("button", name="Hand out again").press("Enter")
    expect(tab.get_by_role("heading", name="Hand out 1 item again")).to_be_visible()
    check_accessibility(tab)
    tab.get_by_role("button", name="Hand out 1 item again").press("Enter")
    expect(tab.get_by_text("Handed out 1 item again.")).to_be_visible()
    check_accessibility(tab)
    tab.get_by_role("link", name="Back to the list").press("Enter")
    expect(tab.get_by_role("checkbox", name="Select m-001")).to_be_visible()
    expect(tab.get_by_role("checkbox", name="Select m-003")).to_have_count(0)
    assert queue_of_dead.get("m-003").state == "inbound"


@pytest.fixture
def mail(queue: leaseq.Queue) -> leaseq.Queue:
    """120 waiting items, 50 of which are about refunds, and 60 that are done."""
    queue.configure(title="Mail", form={"show": [{"field": "text", "label": "Message"}, "order"]})
    for n in range(180):
        about = "refund" if 60 <= n < 110 else "parcel"
        queue.enqueue({"text": f"{about} {n}", "order": n}, id=f"m-{n:03}")
        if n < 60:
            queue.finish(not_none(queue.reserve("ann")), {"about": f"answer {n}"})
    return queue


def test_priority_of_what_is_found_is_set_and_undone_by_keys_alone(
    tab: Page, manager: str, mail: leaseq.Queue
) -> None:
    sign_in(tab, manager)
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.goto(f"/manage/{mail.name}/items?state=inbound")
    heights = "[...new Set([...document.querySelectorAll('.rows tbody tr')].map((row) => row.offsetHeight))]"
    assert tab.evaluate(heights) == [40]
    tab.keyboard.press("/")
    tab.keyboard.type("refund")
    tab.keyboard.press("Enter")
    expect(tab.locator("#found")).to_have_text("50 found")
    panel = tab.get_by_role("region", name="The item of the row")
    expect(panel.get_by_role("heading", name="refund 60")).to_be_visible()
    for key in ("j", "j", "k", "j"):
        tab.keyboard.press(key)
    expect(tab.get_by_role("link", name="refund 61")).to_be_focused()
    expect(panel.get_by_role("heading", name="refund 61")).to_be_visible()
    check_accessibility(tab)
    tab.keyboard.press("x")
    expect(tab.get_by_text("Selected (1)")).to_be_visible()
    for _ in range(3):
        tab.keyboard.press("j")
    tab.keyboard.press("Shift+X")
    expect(tab.get_by_text("Selected (4)")).to_be_visible()
    set_priority_and_undo(tab, panel, mail)
    tab.keyboard.press("Enter")
    expect(tab.locator("#found")).to_have_text("50 found")  # the search is kept
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="refund 60")).to_be_visible()
    tab.go_back()
    tab.keyboard.press("?")
    tab.get_by_label("Use single keys").uncheck()
    tab.keyboard.press("Escape")
    tab.keyboard.press("*")
    expect(tab.get_by_text("Selected (0)")).to_be_hidden()


def set_priority_and_undo(tab: Page, panel: Any, mail: leaseq.Queue) -> None:
    """Set the priority of all rows of the page, by keys, and undo it."""
    tab.set_viewport_size({"width": 1024, "height": 400})
    expect(panel).to_be_hidden()
    tab.keyboard.press("*")
    top = tab.evaluate("scrollY")
    tab.keyboard.press(".")
    expect(tab.get_by_role("button", name="Assign …")).to_be_focused()
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert tab.evaluate("scrollY") == top  # the rows stay in sight
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("textbox", name="Priority")).to_be_focused()
    check_accessibility(tab)
    tab.keyboard.type("5")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Set the priority of 50 items to 5.")).to_be_visible()
    assert {item.priority for item in mail.items("inbound", limit=200)} == {5, 100}
    expect(tab.get_by_role("link", name="Back to the list")).to_be_focused()
    check_accessibility(tab)
    tab.keyboard.press("Shift+Tab")
    expect(tab.get_by_role("button", name="Undo")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Undone for 50 items.")).to_be_visible()
    expect(tab.get_by_role("link", name="Back to the list")).to_be_focused()
    assert {item.priority for item in mail.items("inbound", limit=200)} == {100}


def test_many_are_reopened_or_changed_in_a_few_clicks(tab: Page, manager: str, mail: leaseq.Queue) -> None:
    clicks = 0

    def click(role: Any, name: str, **options: Any) -> None:
        nonlocal clicks
        clicks += 1
        tab.get_by_role(role, name=name).click(**options)

    sign_in(tab, manager)
    tab.goto(f"/manage/{mail.name}/items?state=finished&order=oldest")
    click("checkbox", "Select m-000")
    click("checkbox", "Select m-019", modifiers=["Shift"])
    expect(tab.get_by_text("Selected (20)")).to_be_visible()
    click("button", "Reopen …")
    click("button", "Reopen 20 items")
    expect(tab.get_by_text("Reopened 20 items.")).to_be_visible()
    assert (mail.stats().finished, clicks) == (40, 4)
    clicks = 0
    tab.goto(f"/manage/{mail.name}/items?state=inbound&find=refund")
    click("checkbox", "Select all on this page")
    click("button", "Priority …")
    tab.get_by_role("textbox", name="Priority").fill("5")
    click("button", "Set the priority of 50 items")
    expect(tab.get_by_text("Set the priority of 50 items to 5.")).to_be_visible()
    assert clicks == 3


def test_bulk_assign_covers_all_items_of_search(tab: Page, manager: str, queue_of_dead: leaseq.Queue) -> None:
    queue_of_dead.configure(max_attempts=1)
    queue_of_dead.enqueue_many(leaseq.NewItem({}, id=f"n-{n:03}") for n in range(240))
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue_of_dead.name}/items?state=inbound&begins=n-")
    tab.get_by_role("checkbox", name="Select all on this page").check()
    tab.get_by_role("radio", name="All 240 found").check()
    tab.get_by_role("button", name="Assign").click()
    expect(tab.get_by_role("heading", name="Assign 240 items to …")).to_be_visible()
    tab.get_by_role("combobox", name="Assign to").fill(manager)
    tab.get_by_role("button", name="Assign", exact=True).click()
    expect(tab.get_by_text(f"Assigned 240 items to {manager}.")).to_be_visible()
    expect(tab.get_by_text("whole list was searched")).to_be_visible()
    expect(tab.get_by_role("button", name="Stop here")).to_be_hidden()
    assert {item.assigned_to for item in queue_of_dead.items("inbound", limit=300)} == {(manager,)}


def test_bulk_removal_can_be_stopped_and_continued(
    tab: Page, manager: str, queue_of_dead: leaseq.Queue
) -> None:
    sign_in(tab, manager)
    routes: list[Any] = []

    def hold(route: Any) -> None:
        """Let the first step pass; later steps wait until the test releases them."""
        routes.append(route)
        if len(routes) == 1:
            route.continue_()

    tab.route("**/bulk/do", hold)
    tab.goto(f"/manage/{queue_of_dead.name}/items?state=dead")
    tab.get_by_role("checkbox", name="Select all on this page").check()
    tab.get_by_role("radio", name="All 120 in this list").check()
    tab.get_by_role("button", name="Remove").click()
    expect(tab.get_by_text("This can't be undone.")).to_be_visible()
    tab.get_by_role("button", name="Remove 120 items").click()
    expect(tab.get_by_text("Removed 100 items.")).to_be_visible()
    tab.get_by_role("button", name="Stop here").click()
    check_accessibility(tab)
    routes[1].abort()
    expect(tab.get_by_text("That step failed")).to_be_visible()
    assert queue_of_dead.stats().dead == 20
    tab.unroute("**/bulk/do")
    tab.get_by_role("button", name="Continue").click()
    expect(tab.get_by_text("Removed 120 items.")).to_be_visible()
    expect(tab.get_by_role("link", name="Back to the list")).to_be_focused()
    expect(tab.get_by_text("That step failed")).to_be_hidden()
    assert queue_of_dead.stats().dead == 0


def test_item_page_links_neighbours_and_accepts_late_answer(
    tab: Page, manager: str, queue: leaseq.Queue
) -> None:
    queue.configure(title="Triage", form={"show": ["text"]})
    for n in (1, 2, 3):
        queue.enqueue({"text": f"message {n}", "n": n}, id=f"m{n}")
    lease = not_none(queue.reserve("ann"))
    queue.release("m1", by=manager)
    queue.finish(not_none(queue.reserve("bob")), {"about": "delivery", "note": "as before"})
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, {"about": "refund", "note": "as before"})
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/items?state=inbound")
    tab.get_by_role("link", name="message 2").click()
    tab.get_by_role("link", name="Next").press("Enter")
    expect(tab.get_by_role("heading", name="message 3")).to_be_visible()
    tab.get_by_role("link", name="Previous").press("Enter")
    expect(tab.get_by_role("heading", name="message 2")).to_be_visible()
    tab.goto(f"/manage/{queue.name}/items?state=finished")
    tab.get_by_role("link", name="message 1").click()
    expect(tab.get_by_text(f"{manager} released it from ann")).to_be_visible()
    tab.get_by_role("button", name="Copy the id").press("Enter")  # no permission to copy, so it is selected
    eventually(lambda: tab.evaluate("getSelection().toString() === 'm1'"))
    row = tab.get_by_role("row").filter(has_text="differs")
    expect(row).to_have_count(1)
    expect(row).to_contain_text(re.compile("about.*delivery.*refund", re.DOTALL))
    check_both_schemes(tab)
    tab.get_by_text("As JSON").click()
    check_accessibility(tab)
    accept_summary = tab.locator("summary", has_text="Accept the late answer from ann")
    accept_summary.press("Enter")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("button", name="Yes, accept it")).to_be_hidden()
    expect(accept_summary).to_be_focused()
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="Yes, accept it").press("Enter")
    expect(tab.get_by_text(f"{manager} accepted a late answer")).to_be_visible()
    assert [answer.person for answer in queue.get("m1").answers] == ["ann"]


def expect_item_page(tab: Page, title: str) -> None:
    expect(tab.get_by_role("heading", level=1)).to_have_text(title)
    expect(tab.get_by_role("button", name="Keys")).to_be_visible()  # its script has begun


@pytest.fixture
def undone_answers(queue: leaseq.Queue) -> leaseq.Queue:
    """Three finished items; ann undid her first answer to the second."""
    ask = {"type": "object", "properties": {"about": {"enum": ["delivery", "refund"]}}, "required": ["about"]}
    queue.configure(title="Triage", form={"show": ["text"], "ask": ask})
    for n in (1, 2, 3):
        queue.enqueue({"text": f"message {n}"}, id=f"m{n}")
        lease = not_none(queue.reserve("ann"))
        queue.finish(lease, {"about": "delivery"})
        if n == 2:
            queue.finish(queue.undo_finish(lease), {"about": "refund"})
    return queue


def test_answers_are_reviewed_by_keys_alone(tab: Page, manager: str, undone_answers: leaseq.Queue) -> None:
    sign_in(tab, manager)
    tab.goto(f"/manage/{undone_answers.name}/items?state=finished&order=oldest")
    tab.get_by_role("link", name="message 1").press("Enter")
    expect_item_page(tab, "message 1")
    for key, title in (("j", "message 2"), ("k", "message 1"), ("j", "message 2")):
        tab.keyboard.press(key)
        expect_item_page(tab, title)
    expect(tab.locator(".timeline")).to_contain_text("ann undid that, and has it again")
    tab.keyboard.press("c")
    expect(tab.get_by_role("radio", name="refund")).to_be_checked()
    for key in ("Tab", "ArrowUp", "Control+Enter"):
        tab.keyboard.press(key)
    expect(tab.get_by_text(f"{manager} corrected the answer")).to_be_visible()
    assert undone_answers.get("m2").answers[0].result == {"about": "delivery"}
    expect_item_page(tab, "message 2")
    tab.keyboard.press("j")
    expect_item_page(tab, "message 3")
    tab.keyboard.press("r")
    tab.keyboard.type("Rather refund?")  # r, j and others only type here
    check_both_schemes(tab)
    tab.keyboard.press("Escape")
    expect(tab.get_by_label("What should be done differently?")).to_be_hidden()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    tab.once("dialog", stay)
    tab.keyboard.press("j")
    eventually(lambda: asked == ["beforeunload"], "the text was not sent")
    tab.keyboard.press("r")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text(f"{manager} reopened it")).to_be_visible()
    item = undone_answers.get("m3")
    assert (item.state, item.history[-1].reason) == ("inbound", "Rather refund?")
    expect_item_page(tab, "message 3")
    tab.keyboard.press("k")  # the corrected answer is the newest of the list
    expect_item_page(tab, "message 1")


def test_item_is_selected_from_its_page(tab: Page, manager: str, undone_answers: leaseq.Queue) -> None:
    sign_in(tab, manager)
    path = f"/manage/{undone_answers.name}/items?state=finished&order=oldest"
    tab.goto(path)
    tab.get_by_role("checkbox", name="Select m3").check()
    tab.get_by_role("link", name="message 1").press("Enter")
    expect_item_page(tab, "message 1")
    tab.keyboard.press("x")
    expect(tab.get_by_role("button", name="Select X", pressed=True)).to_be_visible()
    tab.keyboard.press("j")
    expect_item_page(tab, "message 2")
    expect(tab.get_by_role("button", name="Select X", pressed=False)).to_be_visible()
    tab.goto(path)
    expect(tab.get_by_text("Selected (2)")).to_be_visible()
    expect(tab.get_by_role("checkbox", name="Select m1")).to_be_checked()
    tab.goto(f"{path}&after={undone_answers.get('m1').cursor}")
    expect(tab.get_by_text("Selected (2)")).to_be_visible()
    tab.get_by_role("button", name="Reopen").press("Enter")
    expect(tab.get_by_role("heading", name="2 items")).to_be_visible()
    tab.goto(path)
    expect(tab.get_by_text("Selected (2)")).to_be_hidden()
    assert tab.evaluate("sessionStorage.length") == 0


def test_keys_of_item_page_are_listed_and_turned_off(
    tab: Page, manager: str, undone_answers: leaseq.Queue
) -> None:
    sign_in(tab, manager)
    tab.goto(f"/manage/{undone_answers.name}/items/m2")
    expect_item_page(tab, "message 2")
    tab.keyboard.press("?")
    panel = tab.get_by_role("dialog", name="Keys")
    rows = panel.locator(".generated").all_text_contents()
    assert rows == ["KPrevious", "JNext", "CCorrect", "RReopen"]
    check_accessibility(tab)
    tab.get_by_role("checkbox", name="Use single keys").press("Space")
    tab.keyboard.press("Escape")
    expect(tab.locator("a[rel=next] kbd")).to_be_hidden()
    tab.keyboard.press("j")
    expect(tab.get_by_role("heading", level=1)).to_have_text("message 2")


def test_answers_are_exported_with_chosen_filters(tab: Page, manager: str, queue: leaseq.Queue) -> None:
    queue.configure(title="Triage")
    for person in ("ann", "bob"):
        queue.enqueue({"of": person})
        queue.finish(not_none(queue.reserve(person)), {"answer": person})
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/export")
    tab.get_by_role("combobox", name="By").fill("ann")
    tab.get_by_role("textbox", name="Done from").fill("yesterday")
    tab.get_by_role("button", name="Download").press("Enter")
    expect(tab.get_by_text("From: expected a day such as")).to_be_visible()
    expect(tab.get_by_role("combobox", name="By")).to_have_value("ann")
    check_both_schemes(tab)
    tab.get_by_role("textbox", name="Done from").fill("2020-01-01")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Download").press("Enter")
    assert download.value.suggested_filename == f"{queue.name}.csv"
    assert [line.split(",")[3] for line in download.value.path().read_text().splitlines()] == [
        "person",
        "ann",
    ]


def test_bulk_revive_works_without_javascript(
    plain_tab: Page, manager: str, queue_of_dead: leaseq.Queue
) -> None:
    sign_in(plain_tab, manager)
    plain_tab.goto(f"/manage/{queue_of_dead.name}/items?state=dead")
    plain_tab.get_by_role("radio", name="All 120 in this list").check()
    plain_tab.get_by_role("button", name="Hand out again").click()
    plain_tab.get_by_role("button", name="Hand out 120 items again").click()
    expect(plain_tab.get_by_text("Handed out 100 items again.")).to_be_visible()
    plain_tab.get_by_role("button", name="Continue").click()
    expect(plain_tab.get_by_text("Handed out 120 items again.")).to_be_visible()
    assert queue_of_dead.stats().inbound == 120


def test_waiting_item_is_changed_and_refused_input_is_kept(
    tab: Page, manager: str, queue: leaseq.Queue
) -> None:
    queue.configure(title="Triage")
    queue.enqueue({"text": "a < b"}, id="r-1", priority=200)
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/items/r-1")
    summary = tab.locator(".acts summary", has_text="Change")
    summary.focus()
    tab.keyboard.press("Enter")
    tab.get_by_label("Priority").fill("10")
    tab.get_by_label("Due date").fill("2027-05-01T12:00")
    payload = tab.get_by_label("Content, as JSON")
    payload.fill('{"text": ')
    tab.get_by_role("button", name="Save changes").click()
    expect(tab.get_by_role("alert")).to_contain_text("Not changed: Content")
    expect(tab.get_by_label("Priority")).to_have_value("10")
    expect(payload).to_have_value('{"text": ')
    expect(payload).to_have_attribute("aria-invalid", "true")
    check_both_schemes(tab)
    payload.fill('{"text": "new"}')
    tab.get_by_role("button", name="Save changes").click()
    expect(tab.get_by_text("Changed: priority, due date, content.")).to_be_visible()
    item = queue.get("r-1")
    assert (item.priority, item.payload) == (10, {"text": "new"})
    assert item.due == datetime(2027, 5, 1, 12, tzinfo=UTC)
    summary.click()
    check_both_schemes(tab)
    tab.get_by_role("button", name="Save changes").click()
    expect(tab.get_by_text("Nothing was changed.")).to_be_visible()


def test_item_is_assigned_released_revived_and_removed(
    tab: Page, manager: str, person: str, letters: leaseq.Queue
) -> None:
    letters.configure(max_attempts=1)
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/items/l2")
    tab.locator("main summary", has_text="Assign").press("Enter")
    tab.get_by_label("Assign to").fill(person)
    tab.keyboard.press("Enter")
    expect(tab.get_by_text(f"Only {person} gets it now")).to_be_visible()
    assert not_none(letters.reserve(person)).id == "l2"
    tab.reload()
    tab.locator("main summary", has_text="Release").press("Enter")
    tab.get_by_role("button", name="Release").press("Enter")
    expect(tab.get_by_text("The item is released and is waiting")).to_be_visible()
    letters.fail(not_none(letters.reserve(person)), "torn")
    tab.reload()
    tab.get_by_role("button", name="Hand out again").press("Enter")
    expect(tab.get_by_text("It is waiting again, with all its attempts.")).to_be_visible()
    expect(tab.get_by_text(f"{manager} handed it out again")).to_be_visible()
    tab.locator("main .menu > summary").press("Enter")
    tab.get_by_role("button", name="Remove permanently").press("Enter")
    expect(tab.get_by_text("The item l2 is removed.")).to_be_visible()
    assert letters.stats().inbound == 2


def test_late_answer_is_accepted_from_list(tab: Page, manager: str, letters: leaseq.Queue) -> None:
    lost_lease = not_none(letters.reserve("ann"))
    letters.release(lost_lease.id)
    letters.finish(not_none(letters.reserve("bob")), {"answer": "as it was"})
    with pytest.raises(leaseq.LeaseLost):
        letters.finish(lost_lease, {"answer": "as it should be"})
    sign_in(tab, manager)
    tab.goto(f"/manage/{letters.name}/late")
    tab.get_by_role("checkbox", name="Select the answer from ann").press("Space")
    expect(tab.get_by_text("Selected (1)")).to_be_visible()
    tab.get_by_role("button", name="Accept the selected answers").press("Enter")
    expect(tab.get_by_role("heading", name="Accept 1 late answer?")).to_be_visible()
    tab.get_by_role("button", name="Yes, accept it").press("Enter")
    expect(tab.get_by_text("1 late answer is accepted.")).to_be_visible()
    assert [answer.person for answer in letters.get(lost_lease.id).answers] == ["ann"]
