"""The pages of people and accounts in a real browser, by keyboard and checked by axe."""

from __future__ import annotations

import re
import time
from typing import Any

import pyotp
import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.support.leases import not_none, take


@pytest.fixture
def admin(accounts: Accounts, queue_name: str) -> str:
    return accounts.add(f"meg of {queue_name}", by="test", role="admin", password=PASSWORD).name


PRESS_TWICE = """button => {
  const sent = [];
  addEventListener("submit", (event) => event.defaultPrevented || sent.push(event));
  for (let times = 0; times < 2; times++) button.click();
  return sent.length;
}"""


def test_second_press_before_the_answer_sends_nothing(admin: str, tab: Page) -> None:
    sign_in(tab, admin)
    tab.goto("/people")
    assert tab.get_by_role("button", name="Create links").evaluate(PRESS_TWICE) == 1
    expect(tab.locator(".invitation-links li")).to_have_count(1)


def check_both_schemes(tab: Page) -> None:
    """Check the page in both schemes, narrow and wide."""
    for scheme, width in (("dark", 320), ("light", 1280)):
        tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        tab.set_viewport_size({"width": width, "height": 800})
        check_accessibility(tab)


def test_people_page_shows_activity_and_invites_and_disables_people(
    server: Any, queue: leaseq.Queue, admin: str, person: str, tab: Page
) -> None:
    queue.enqueue({"text": "hello"})
    queue.reserve(person)
    activity = Activity(server.client)
    for number in range(4):
        activity.record(person, queue.name, "finished", id=f"i{number}", token=number, active_ms=41_000)
    activity.flush()
    sign_in(tab, admin)
    tab.goto("/people")
    check_both_schemes(tab)
    row = tab.locator(f'tr[data-key="{person}"]')
    expect(row.locator("[data-number=last_hour]")).to_have_text("4")
    activity.record(person, queue.name, "finished", id="i9", token=9, active_ms=41_000)
    activity.flush()
    expect(row.locator("[data-number=last_hour]")).to_have_text("5")
    expect(row.get_by_role("link", name="hello")).to_be_visible()
    tab.get_by_label("Names, one per line").fill(f"new {person}\n\nother {person}")
    tab.get_by_label("Role", exact=True).nth(1).select_option("manager")
    tab.get_by_role("button", name="Create links").press("Enter")
    tab.get_by_role("heading", name="The invitations").wait_for()
    for link in tab.locator(".secret").all_inner_texts():
        assert "/welcome?token=" in link
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Copy all, one per line").click()
    tab.get_by_role("button", name="Copied").wait_for()
    lines = str(tab.evaluate("navigator.clipboard.readText()")).splitlines()
    assert [line.partition(" http")[0] for line in lines] == [f"new {person}", f"other {person}"]
    check_accessibility(tab)
    tab.get_by_role("searchbox", name="Name or skill").fill(person)
    tab.keyboard.press("Enter")
    tab.get_by_role("link", name=person).click()
    check_both_schemes(tab)
    tab.get_by_text("Day by day").click()
    tab.get_by_text(f"Create a token for {person}").click()
    tab.get_by_text(f"Disable {person}").click()
    check_both_schemes(tab)
    tab.get_by_role("button", name="Disable", exact=True).click()
    tab.get_by_text("The 1 item that they held is waiting again.").wait_for()
    assert queue.mine(person) == []
    tab.get_by_role("link", name="What was changed").click()
    tab.locator(".log li").filter(has_text=f"{admin} disabled {person}").wait_for()
    check_both_schemes(tab)


def test_many_people_are_selected_and_changed_by_keyboard(
    server: Any, accounts: Accounts, queue: leaseq.Queue, admin: str, person: str, tab: Page
) -> None:
    queue.configure()
    QueueAccess(server.client).set(queue.name, Access(work=Group(people=(person,))))
    other_people = [accounts.add(f"{person} {name}", by="test").name for name in ("bob", "eva")]
    sign_in(tab, admin)
    tab.goto(f"/people?q={person}")
    bar = tab.get_by_role("form", name="Many people at once")
    expect(bar).to_be_hidden()
    tab.get_by_role("checkbox", name=f"Select {other_people[0]}").press("Space")
    tab.get_by_role("checkbox", name=f"Select {other_people[1]}").press("Space")
    expect(bar.get_by_text("Selected (2)")).to_be_visible()
    check_both_schemes(tab)
    tab.get_by_label("What to do").select_option("Set the team to")
    tab.get_by_label("Skills, team or queue").fill("Refunds")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("2 people are changed.")).to_be_visible()
    assert [accounts.get(name).team for name in (person, *other_people)] == ["", "Refunds", "Refunds"]
    for action, value in (("Add the skills", "fr"), ("Give access to the queue", queue.name)):
        tab.get_by_role("checkbox", name=f"Select {other_people[1]}").press("Space")
        tab.get_by_label("What to do").select_option(action)
        tab.get_by_label("Skills, team or queue").fill(value)
        tab.keyboard.press("Enter")
        expect(tab.get_by_text("1 person is changed.")).to_be_visible()
    assert not_none(accounts.get(other_people[1])).skills == ("fr",)
    assert other_people[1] in not_none(QueueAccess(server.client).get(queue.name).work).people
    listed = tab.locator("table.people")
    listed.get_by_role("link", name="Team").click()
    expect(listed.get_by_role("columnheader", name="Team")).to_have_attribute("aria-sort", "ascending")
    tab.get_by_role("checkbox", name=f"Select {other_people[0]}").press("Space")
    bar.locator("summary", has_text="Disable").press("Enter")
    bar.get_by_role("button", name="Disable them").press("Enter")
    expect(tab.get_by_text("1 person is changed.")).to_be_visible()
    tab.get_by_label("State").select_option("disabled")
    tab.get_by_role("button", name="Search").press("Enter")
    expect(tab.locator("table.people tbody tr th a")).to_have_text([other_people[0]])


def test_break_is_taken_from_person_menu_and_ended(person: str, admin: str, tab: Page) -> None:
    sign_in(tab, person)
    tab.goto("/")
    tab.locator("#person-menu > summary").press("Enter")
    tab.get_by_role("link", name="Take a break").click()
    expect(tab.get_by_role("button", name="Take a break")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="You are on a break")).to_be_visible()
    expect(tab.get_by_role("button", name="Back to work")).to_be_focused()
    check_both_schemes(tab)
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile(r"/(q/.*)?$"))


def test_a_person_is_erased_once_their_name_is_typed(
    queue: leaseq.Queue, admin: str, person: str, tab: Page
) -> None:
    queue.enqueue({"text": "hello"}, id="a")
    queue.finish(take(queue, person), {"answer": "world"})
    sign_in(tab, admin)
    tab.goto(f"/people/{person}")
    tab.get_by_role("link", name=f"Erase {person}").press("Enter")
    name_field = tab.get_by_label("Type the person's name")
    name_field.fill(f"{person}a")
    tab.set_viewport_size({"width": 320, "height": 800})
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("That is not the person's name. Nothing was erased.")).to_be_in_viewport()
    expect(name_field).to_be_focused()
    expect(name_field).to_have_value(f"{person}a")
    tab.keyboard.press("End")
    tab.keyboard.press("Backspace")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text(f"{person} is erased.")).to_be_visible()
    pseudonym = tab.locator("code").inner_text()
    check_accessibility(tab)
    tab.get_by_role("link", name="All people").press("Enter")
    expect(tab.get_by_role("link", name=admin)).to_be_visible()
    expect(tab.get_by_role("link", name=person, exact=True)).to_have_count(0)
    tab.goto(f"/manage/{queue.name}/items/a")
    expect(tab.get_by_text("world", exact=True).first).to_be_visible()
    expect(tab.get_by_text(pseudonym).first).to_be_visible()
    expect(tab.get_by_text(person)).to_have_count(0)


def test_invitation_link_creates_account(accounts: Accounts, queue_name: str, tab: Page) -> None:
    tab.goto(f"/welcome?token={accounts.invite(by='meg', role='worker')}")
    expect(tab.get_by_label("Your name")).to_be_focused()
    check_both_schemes(tab)
    tab.get_by_label("Your name").fill(f"new of {queue_name}")
    tab.get_by_label("New password").fill(PASSWORD)
    tab.get_by_label("Repeat password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    tab.locator("#person-menu").wait_for()
    assert accounts.get(f"new of {queue_name}").role == "worker"


def make_token(tab: Page, label: str) -> None:
    tab.get_by_label("What is it for?").fill(label)
    tab.locator("#token_password").fill(PASSWORD)
    tab.get_by_role("button", name="Create a token").press("Enter")
    tab.get_by_role("heading", name="The new token").wait_for()


def test_token_is_created_reported_at_sign_in_and_revoked(accounts: Accounts, person: str, tab: Page) -> None:
    sign_in(tab, person)
    tab.goto("/account")
    tab.get_by_label("What is it for?").fill("my script")
    tab.locator("#token_password").fill("not that one")
    tab.keyboard.press("Enter")
    tab.get_by_text("That is not your current password.").wait_for()
    assert accounts.tokens(person) == []
    make_token(tab, "my script")
    check_both_schemes(tab)
    tab.context.clear_cookies()
    tab.goto("/login?next=/account")
    tab.get_by_label("Name").fill(person)
    tab.get_by_label("Password").fill("not that one")
    tab.keyboard.press("Enter")
    tab.get_by_text("is wrong").wait_for()
    tab.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    tab.get_by_text("created an API token that acts as you (my script, work)").wait_for()
    tab.get_by_text("2 sign-ins with your name failed").wait_for()
    check_both_schemes(tab)
    tab.get_by_label("Revoke the 1 API token as well").nth(1).check()
    tab.get_by_role("button", name="Sign out everywhere").press("Enter")
    tab.get_by_text("1 API token is revoked.").wait_for()
    assert accounts.tokens(person) == []


def test_token_is_created_and_revoked_without_javascript(
    accounts: Accounts, person: str, plain_tab: Page
) -> None:
    sign_in(plain_tab, person)
    plain_tab.goto("/account")
    make_token(plain_tab, "my script")
    plain_tab.get_by_label("Revoke the 1 API token as well").nth(1).check()
    plain_tab.get_by_role("button", name="Sign out everywhere").click()
    plain_tab.get_by_text("1 API token is revoked.").wait_for()
    assert accounts.tokens(person) == []


def test_a_password_link_offers_to_revoke_the_tokens(accounts: Accounts, person: str, tab: Page) -> None:
    accounts.create_token(person, "lost", by="test")
    tab.goto(f"/welcome?token={accounts.password_link(person, by='meg')}")
    check_both_schemes(tab)
    tab.get_by_label("New password").fill("another long one")
    tab.get_by_label("Repeat password").fill("another long one")
    tab.get_by_label("Revoke the 1 API token as well").check()
    tab.get_by_role("button", name="Set the password").press("Enter")
    tab.get_by_text("1 API token is revoked.").wait_for()
    assert accounts.tokens(person) == []


def test_second_factor_is_enabled_and_used_to_sign_in(person: str, tab: Page) -> None:
    sign_in(tab, person)
    tab.goto("/account")
    check_both_schemes(tab)
    tab.locator("#factor_password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    secret = tab.locator(".secret").inner_text().replace(" ", "")
    assert re.fullmatch("[A-Z2-7]{32}", secret)
    tab.get_by_role("img", name="QR code").wait_for()
    check_both_schemes(tab)
    totp = pyotp.TOTP(secret)
    tab.get_by_label("The current six digits").fill(totp.now())  # valid for another half minute
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Your recovery codes").wait_for()
    assert tab.locator(".recovery-codes li").count() == 10
    check_both_schemes(tab)
    tab.get_by_role("link", name="I have saved them").click()
    tab.context.clear_cookies()
    tab.goto("/login?next=/account")
    check_both_schemes(tab)
    tab.get_by_label("Name").fill(person)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Your code").wait_for()
    check_both_schemes(tab)
    tab.keyboard.type(totp.at(int(time.time()) + 30))
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/account")
