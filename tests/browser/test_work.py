"""The work page in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility, check_width
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.support.leases import expire_leases, not_none

FORM = {
    "show": ["text"],
    "ask": {
        "type": "object",
        "required": ["about"],
        "properties": {
            "about": {"title": "What is it about?", "enum": ["delivery", "refund"]},
            "note": {"title": "Note", "type": "string"},
        },
    },
}


@pytest.fixture
def triage(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure(title="Triage", form=FORM, lease_seconds=600, retry_seconds=600)
    for number in (1, 2, 3):
        queue.enqueue({"text": f"message {number}"}, id=f"m{number}")
    return queue


def test_items_are_finished_given_back_and_shown_again_with_draft(
    tab: Page, person: str, triage: leaseq.Queue
) -> None:
    sign_in(tab, person)
    tab.goto(f"/q/{triage.name}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_text("message 1")).to_be_visible()
    expect(tab.locator("#lease-status [popovertarget=keys]")).to_be_visible()  # the page's module has run
    tab.keyboard.press("2")  # the only required answer, so the form is sent
    expect(tab.get_by_text("message 2")).to_be_visible()
    assert triage.get("m1").answers[0].result == {"about": "refund"}

    tab.get_by_role("button", name="Later").click()
    expect(tab.get_by_text("message 3")).to_be_visible()
    expect(tab.locator("#undo")).to_contain_text("You gave it back.")
    assert triage.get("m2").history[-1].how == "abandoned"
    tab.get_by_role("button", name="Later").click()  # only the items that the person gave back are left
    expect(tab.get_by_text("message 2")).to_be_visible()
    triage.remove("m3")  # the person gave that back as well
    expect(tab.locator("#lease-status [popovertarget=keys]")).to_be_visible()
    tab.get_by_label("Note").fill("half a thought")
    expect(tab.get_by_text("Draft saved")).to_be_visible()
    assert expire_leases(triage) > 0
    assert triage.get("m2").history[-1].how == "expired"
    tab.goto(f"/q/{triage.name}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_text("message 2")).to_be_visible()
    expect(tab.get_by_label("Note")).to_have_value("half a thought")


def test_expiry_on_page_is_shown_and_answer_still_counts(
    tab: Page, person: str, triage: leaseq.Queue
) -> None:
    triage.configure(lease_seconds=1)
    sign_in(tab, person)
    tab.goto(f"/q/{triage.name}")
    tab.get_by_role("button", name="Next item").click()
    tab.get_by_label("refund").check()
    expect(tab.get_by_text("Nobody has taken it yet.")).to_be_visible()
    tab.get_by_role("button", name="Finish and stop").click()
    expect(
        tab.get_by_text("Your time had run out, but nobody else had the item: your answer counts.")
    ).to_be_visible()
    assert triage.get("m1").answers[0].late


def test_work_page_works_without_javascript(plain_tab: Page, person: str, triage: leaseq.Queue) -> None:
    sign_in(plain_tab, person)
    plain_tab.goto(f"/q/{triage.name}")
    plain_tab.get_by_role("button", name="Next item").click()
    plain_tab.get_by_label("Note").fill("typed")
    plain_tab.get_by_role("button", name="Finish and next").click()
    note = plain_tab.get_by_role("alert").filter(has_text="Please answer this.")  # other alerts are empty
    expect(note).to_be_visible()
    expect(plain_tab.get_by_label("Note")).to_have_value("typed")
    plain_tab.get_by_label("delivery").check()
    plain_tab.get_by_role("button", name="Finish and next").click()
    expect(plain_tab.get_by_text("message 2")).to_be_visible()
    with plain_tab.expect_navigation():  # to a page that looks the same
        plain_tab.get_by_role("button", name="Keep working").click()
    plain_tab.get_by_text("Report a problem").click()
    plain_tab.get_by_label("What is wrong with it?").fill("cut off")
    plain_tab.get_by_role("button", name="Report").click()
    expect(plain_tab.get_by_text("Reported.")).to_be_visible()
    expect(plain_tab.get_by_text("message 3")).to_be_visible()
    plain_tab.get_by_text("Not for me").click()
    plain_tab.get_by_label("Reason (optional)").fill("I know her")
    plain_tab.get_by_role("button", name="Give it to others").click()
    expect(plain_tab.get_by_text("You gave it back, and won't see it again.")).to_be_visible()
    assert triage.get("m1").answers[0].result == {"about": "delivery", "note": "typed"}
    assert triage.get("m2").last_error == "cut off"
    assert triage.get("m3").history[-1].reason == "I know her"


def check_wide_and_narrow(tab: Page) -> None:
    tab.set_viewport_size({"width": 1100, "height": 800})
    check_accessibility(tab)
    tab.set_viewport_size({"width": 320, "height": 800})
    check_accessibility(tab, only_look=True)


def test_pages_fit_window_and_have_no_axe_violations(
    tab: Page, accounts: Accounts, triage: leaseq.Queue
) -> None:
    admin = accounts.add(f"boss of {triage.name}", by="test", role="admin", password=PASSWORD).name
    triage.enqueue({}, id="late", due=datetime.now(UTC), requires=["fr"])
    triage.fail(not_none(triage.reserve("bob")), "unreadable")
    triage.reserve("carol")
    triage.configure(max_attempts=1)
    triage.enqueue({"text": "message 0"}, id="m0", priority=1)
    triage.fail(not_none(triage.reserve("bob")), "unreadable")
    triage.configure(max_attempts=3, title=f"Of a title without a space: {'x' * 170}")
    sign_in(tab, admin)
    base = f"/manage/{triage.name}"
    for path in (
        "/", "/manage", base, f"{base}/settings", f"{base}/import",
        *(f"{base}/items?state={state}" for state in ("reserved", "inbound", "dead", "due")),
        f"{base}/items/m1", "/people",
        f"/people/{admin}", "/account", f"/q/{triage.name}", "/nowhere",
    ):  # fmt: skip
        tab.goto(path)  # test_axe.py checks them with axe
        for width in (1100, 320):
            tab.set_viewport_size({"width": width, "height": 800})
            check_width(tab)
    tab.goto(f"/q/{triage.name}")
    tab.get_by_role("button", name="Next item").click()
    check_wide_and_narrow(tab)
    tab.get_by_role("button", name="Finish and next").click()
    check_wide_and_narrow(tab)
    tab.get_by_text("Not for me").click()
    tab.get_by_text("Report a problem").click()
    check_wide_and_narrow(tab)
    triage.clear()
    triage.release("m2")
    tab.get_by_role("button", name="Report").click()
    check_wide_and_narrow(tab)
