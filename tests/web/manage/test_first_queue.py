"""Ways to a first queue: the demo, and a queue created from a file."""

from __future__ import annotations

import html
import io
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq import webhooks
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.demo import QUEUE
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from tests.conftest import Server
from tests.web.conftest import Browser, Response

ROWS = "id,Message,priority\nm1,My parcel is not here,5\nm2,I want my money back,100\n"


@pytest.fixture
def empty_server(server: Server) -> None:
    server.redis.flushall()


@pytest.fixture
def title() -> str:
    return f"Änderungen {secrets.token_hex(4)}"


def send(browser: Browser, text: str, title: str, file: str = "Letters of May.csv") -> Response:
    return browser.post("/manage/from-file", {"title": title, "file": (io.BytesIO(text.encode()), file)})


def test_start_page_offers_three_ways_to_create_queue(
    empty_server: None, sign_in_as: Callable[[str], Browser]
) -> None:
    admin_browser = sign_in_as("admin")
    assert admin_browser.get("/").location == "/manage"
    page = admin_browser.get("/manage").text
    assert page.count("<li><h3>") == 3
    assert "autofocus" in page
    assert admin_browser.post("/manage/demo").location == f"/manage/{QUEUE}/try"
    second_page = admin_browser.get("/manage").text
    assert "Add the demo queue" not in second_page
    assert "A queue from a file" in second_page
    assert admin_browser.get("/").status_code == 200


def test_demo_is_not_added_to_queue_without_access(
    empty_server: None, manager_browser: Browser, app: Flask, accounts: Accounts, server: Server
) -> None:
    """The page offers it to somebody who may not manage any queue."""
    access = app.extensions[EXTENSION].access
    leaseq.Queue(server.client, QUEUE).configure()
    access.set(QUEUE, Access(None, Group(people=("eva",))))
    response = manager_browser.post("/manage/demo", page="/manage")
    access.set(QUEUE, Access())
    assert (response.status_code, "may not manage the queue" in response.text) == (403, True)
    assert leaseq.Queue(server.client, QUEUE).stats().inbound == 0
    manager_browser.post("/manage/demo", page="/manage")
    actions = [one.what for one in accounts.log.page(person=QUEUE).entries]
    assert actions == ["queue.imported"], "it existed before"


def test_a_queue_is_made_from_a_file(manager_browser: Browser, server: Server, title: str) -> None:
    response = send(manager_browser, ROWS, title)
    name = title.lower().replace("ä", "a").replace(" ", "-")
    assert response.location is not None
    assert response.location.startswith(f"/manage/{name}/import/")
    assert "2 added, 0 duplicates, 0 skipped" in manager_browser.get(response.location).text
    queue = leaseq.Queue(server.client, name)
    assert (queue.policy.title, queue.policy.form) == (
        title,
        {"show": [{"field": "Message", "kind": "text"}]},
    )
    item = queue.get("m1")
    assert (item.payload, item.priority) == (
        {"id": "m1", "Message": "My parcel is not here", "priority": "5"},
        5,
    )


def test_second_queue_of_same_title_gets_numbered_name(manager_browser: Browser, title: str) -> None:
    first, second = (str(send(manager_browser, ROWS, title).location).split("/")[2] for _ in range(2))
    assert second == f"{first}-2"


def test_name_of_webhooks_queue_is_not_given_to_new_queue(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    """It would interfere with the deliveries, and its creator would have no access."""
    assert str(send(manager_browser, ROWS, webhooks.QUEUE).location).split("/")[2] == f"{webhooks.QUEUE}-2"
    response = manager_browser.post("/manage", {"name": webhooks.QUEUE}, page="/manage")
    assert response.status_code == 400
    assert "has the deliveries of webhooks" in response.text
    assert webhooks.QUEUE not in leaseq.queues(server.client)


@pytest.mark.parametrize(("file", "name"), [("My mails.jsonl", "my-mails"), ("письма.jsonl", "queue")])
def test_queue_without_title_is_named_after_file(
    empty_server: None, manager_browser: Browser, file: str, name: str
) -> None:
    response = send(manager_browser, '{"text": "a"}\n', "", file)
    assert str(response.location).startswith(f"/manage/{name}/import/")


@pytest.mark.parametrize(
    ("text", "file", "message"),
    [
        ("", "", "Choose a file first."),
        ("a,b\n1,2\n", "rows.xls", "rows.xls"),
        ("", "rows.csv", "the file is empty"),
        ("a,b\n", "rows.csv", "The file has no rows."),
        ("{", "rows.jsonl", "JSON"),
        ("a;b,c\n1;2,3\n", "rows.csv", "Choose the separator"),
    ],
)
def test_refused_file_creates_no_queue(
    empty_server: None, manager_browser: Browser, server: Server, text: str, file: str, message: str
) -> None:
    response = send(manager_browser, text, "kept words", file)
    page = html.unescape(response.text)
    assert response.status_code == 400
    assert message in page.split('role="alert"')[1].split("</p>")[0]
    assert 'value="kept words"' in page
    assert leaseq.queues(server.client) == []


def test_refused_title_creates_no_queue(empty_server: None, manager_browser: Browser, server: Server) -> None:
    response: Any = send(manager_browser, ROWS, "x" * 300)
    assert (response.status_code, "title" in response.text) == (400, True)
    assert leaseq.queues(server.client) == []


def test_queue_from_a_wide_file_says_which_columns_are_shown(
    empty_server: None, manager_browser: Browser
) -> None:
    names = [f"c{n:02}" for n in range(60)]
    response = send(manager_browser, f"{','.join(names)}\n{','.join(names)}\n", "Wide", "wide.csv")
    page = html.unescape(manager_browser.get(str(response.location)).text)
    assert "60 columns" in page
    assert "c39" in page


def test_columns_whose_values_do_not_fit_leave_no_empty_queue(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    rows = "id,text,priority,due\n1,a,High,31/12/2026\n2,b,Low,12/31/2026\n"
    response = send(manager_browser, rows, "Words", "words.csv")
    assert "2 added" in manager_browser.get(str(response.location)).text
    refused = send(manager_browser, "id,text\n1\n2\n", "Short", "short.csv")
    assert refused.status_code == 400
    assert leaseq.queues(server.client) == ["words"]
