"""Names and ids that look like other paths: in a real browser, links and forms stay with the one shown.

Earlier versions accepted such names and ids, so these are stored as they were then.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq import NewItem
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.browser.work_page import YES_NO, expect_item

PEOPLE = "leaseq:{@accounts}:people"


@pytest.fixture
def boss(accounts: Accounts, queue_name: str) -> str:
    return accounts.add(f"root of {queue_name}", by="test", role="admin", password=PASSWORD).name


@pytest.fixture
def victim(accounts: Accounts, queue_name: str) -> str:
    return accounts.add(f"admin2 {queue_name[-12:]}", by="test", role="admin", password=PASSWORD).name


def keep_person(server: Any, accounts: Accounts, name: str) -> str:
    """Store a worker under a name that is refused today."""
    plain_name = accounts.add("plain" + name.replace("/", "_").replace("\\", "_"), by="test").name
    redis = server.redis
    record = json.loads(redis.hget(PEOPLE, plain_name))
    redis.hset(PEOPLE, name, json.dumps({**record, "name": name}))
    redis.hdel(PEOPLE, plain_name)
    return name


def urls_of(tab: Page) -> list[str]:
    """The paths of all links, forms and scripts' addresses of the page, as the browser resolves them."""
    urls: list[str] = tab.evaluate(
        """() => [...document.querySelectorAll("main :not([rel])")].flatMap((one) => [
             one.getAttribute("href"), one.getAttribute("action"), one.getAttribute("formaction"),
             ...Object.entries(one.dataset).filter(([name]) => /Url$/.test(name)).map(([_, url]) => url)
           ]).filter((url) => url !== null).map((url) => new URL(url, location.href).pathname)"""
    )
    return [urlsplit(url).path for url in urls]


@pytest.fixture
def hostile_ids(queue: leaseq.Queue) -> list[str]:
    queue.configure(form=YES_NO, lease_seconds=600)
    ids = [
        "a/correct",
        "plain/finish",
        "a\\b",
        "..x/.y",
        "50%2F",
        "x?state=dead#y",
    ]
    for number, id in enumerate(["plain", "x", "a", *ids], -2):
        queue.restore(NewItem({"text": f"letter number {number}"}, id=id), [])
    return ids


def test_item_pages_link_and_post_to_the_item_they_show(
    tab: Page, queue: leaseq.Queue, hostile_ids: list[str], manager: str
) -> None:
    sign_in(tab, manager)
    for number, id in enumerate(hostile_ids, 1):
        tab.goto(f"/manage/{queue.name}/items?state=inbound")
        tab.get_by_role("link", name=f"letter number {number}", exact=True).click()
        expect(tab.get_by_role("heading", level=1)).to_contain_text(f"letter number {number}")
        for path in urls_of(tab):
            if "/items/" in path:
                item_part = path.split("/items/", 1)[1].split("/")
                assert unquote(item_part[0]) == id, path
                assert len(item_part) <= 2, path
        with tab.expect_navigation():
            tab.locator("form[enctype][action*='/change']").evaluate(
                "(form, value) => { form.elements.priority.value = value; form.requestSubmit(); }",
                str(7 + number),
            )
        assert queue.get(id).priority == 7 + number
    for id in ("plain", "x", "a"):
        assert queue.get(id).priority == 100, "nobody asked to change these"


def test_work_page_keeps_to_the_item_it_shows(
    tab: Page, queue: leaseq.Queue, hostile_ids: list[str], person: str
) -> None:
    """Draft, time, give back, and finish."""
    for id in ("plain", "x", "a"):
        queue.remove(id)
        queue.restore(NewItem({"text": f"bait {id}"}, id=id), [])
        queue.assign(id, "somebody else")
    sign_in(tab, person)
    tab.goto(f"/q/{queue.name}")
    tab.get_by_role("button", name="Next item").click()
    for number, id in enumerate(hostile_ids, 1):
        expect_item(tab, f"letter number {number}")
        for path in urls_of(tab):
            if "/items/" in path and not path.endswith("/undo"):
                assert unquote(path.split("/items/", 1)[1].split("/")[0]) == id, path
        with tab.expect_response(lambda response: response.url.endswith("/draft")) as draft:
            tab.get_by_label("note").fill(f"about {id}")
        assert draft.value.status == 204
        (lease,) = queue.mine(person)
        assert (lease.id, lease.draft) == (id, {"note": f"about {id}"})
        tab.get_by_label("Yes").check(force=True)
        tab.get_by_role("button", name="Finish").first.click()
        expect(tab.get_by_text(f"letter number {number}")).to_have_count(0)
        assert queue.get(id).state == "finished"
    for id in ("plain", "x", "a"):
        assert queue.get(id).state == "inbound"


@pytest.mark.parametrize(
    "name", ["../people/{victim}", "{victim}/export", "{victim}/link", "x\\..\\{victim}"]
)
def test_person_page_acts_on_the_person_it_shows(
    tab: Page, server: Any, accounts: Accounts, boss: str, victim: str, name: str
) -> None:
    stored_name = keep_person(server, accounts, name.format(victim=victim))
    try:
        sign_in(tab, boss)
        tab.goto("/people")
        tab.get_by_role("link", name=stored_name, exact=True).click()
        expect(tab.get_by_role("heading", level=1)).to_contain_text(stored_name)
        for path in urls_of(tab):
            if path.startswith("/people/"):
                assert unquote(path.split("/")[2]) == stored_name, path
        tab.get_by_role("button", name="Create password reset link").click()
        url = tab.locator("code.secret").inner_text()
        assert accounts.password_link_owner(url.split("token=")[1].strip()) == stored_name
    finally:
        server.redis.hdel(PEOPLE, stored_name)
