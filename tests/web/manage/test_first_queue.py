"""Ways to a first queue: the demo, and a queue created from a file."""

from __future__ import annotations

import html
import io
import secrets
from collections.abc import Callable
from datetime import timedelta
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
from tests.web.conftest import Browser, Caller, Response
from tests.web.elements import elements
from tests.web.manage.import_calls import chosen_fields, stream
from tests.web.manage.import_calls import look as look_by_script

ROWS = "id,Message,priority\nm1,My parcel is not here,5\nm2,I want my money back,100\n"


@pytest.fixture
def empty_server(server: Server) -> None:
    server.redis.flushall()


@pytest.fixture
def title() -> str:
    return f"Änderungen {secrets.token_hex(4)}"


def look(
    browser: Browser, text: str, title: str, file: str = "Letters of May.csv", **fields: Any
) -> Response:
    """The page with the preview, without a script."""
    form = {"title": title, "file": (io.BytesIO(text.encode()), file), **fields}
    return browser.post("/new-queue", form, page="/new-queue")


def send(browser: Browser, text: str, title: str, file: str = "Letters of May.csv") -> Response:
    """Look at the file, and then press the button of the preview."""
    page = look(browser, text, title, file)
    if page.status_code != 200:
        return page
    fields = {name: value for name, value in chosen_fields(page, "import").items() if name != "title"}
    return look(browser, text, title, file, **fields, create="yes")


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


def test_queue_of_webhook_deliveries_is_not_made_by_hand(
    empty_server: None, make_caller: Callable[[str], Caller], sign_in_as: Callable[[str], Browser]
) -> None:
    admin_browser = sign_in_as("admin")
    assert admin_browser.post("/manage", {"name": webhooks.QUEUE}, page="/account").status_code == 400
    response = make_caller("admin")("PUT", f"/queues/{webhooks.QUEUE}", json={"lease_seconds": 30})
    assert (response.status_code, response.json["field"]) == (400, "name")


@pytest.mark.guard("demo-of-others")
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
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    line = ",".join(f"c{n:02}" for n in range(60))
    text = f"{line}\n{line}\n"
    assert send(manager_browser, text, "Wide", "wide.csv").status_code == 303
    for seen in (
        look(manager_browser, text, "Wide"),
        look_by_script(manager_browser, "/new-queue", text.encode()),
    ):
        page = html.unescape(seen.text)
        assert "60 columns" in page
        assert "up to c39" in page
    assert len(leaseq.Queue(server.client, "wide").policy.form["show"]) == 40


def test_columns_whose_values_do_not_fit_leave_no_empty_queue(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    rows = "id,text,priority,due\n1,a,High,31/12/2026\n2,b,Low,12/31/2026\n"
    response = send(manager_browser, rows, "Words", "words.csv")
    assert "2 added" in manager_browser.get(str(response.location)).text
    refused = send(manager_browser, "id,text\n1\n2\n", "Short", "short.csv")
    assert refused.status_code == 400
    assert leaseq.queues(server.client) == ["words"]


PRIORITY_WORDS = "id,text,priority,due\n1,a,High,31/12/2026\n2,b,Low,12/31/2026\n"


def create_by_script(browser: Browser, text: str, name: str, **fields: Any) -> Any:
    """What the page's script sends when the button of the preview is pressed: the answer about the queue."""
    data = text.encode()
    plan = browser.post("/new-queue/jobs", {"name": name, **fields}, page="/new-queue").json
    form = {"name": name, "whole": "yes", "piece": (io.BytesIO(data), "piece"), **fields}
    return browser.post(plan["queue"], form, page="/new-queue")


def test_nothing_is_made_before_button_of_preview_is_pressed(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    for response in (
        look(manager_browser, PRIORITY_WORDS, "Words"),
        look_by_script(manager_browser, "/new-queue", PRIORITY_WORDS.encode()),
    ):
        assert response.status_code == 200
        page = html.unescape(response.text)
        assert "it has words such as “High”" in page
        assert "not taken for due dates" in page
        assert "Create queue and import 2 rows" in page
    assert leaseq.queues(server.client) == []


def test_queue_is_made_by_script_with_the_choices_of_the_preview(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    text = "id,text,due\n1,a,3/4/2031\n2,b,4/5/2031\n"
    seen = look_by_script(manager_browser, "/new-queue", text.encode(), "Due.csv")
    fields = {**chosen_fields(seen), "dates": "day-first", "column": ["text"]}
    response = create_by_script(manager_browser, text, "Due.csv", **fields)
    assert response.status_code == 201
    queue = leaseq.Queue(server.client, "due")
    assert [entry["field"] for entry in queue.policy.form["show"]] == ["text"]
    assert queue.stats().inbound == 0
    page = stream(manager_browser, "/new-queue", response.json["to"], text.encode()).text
    assert "2 added" in page
    assert elements(page, "a[href='/manage/due/settings']")
    item = queue.get("1")
    assert (item.payload, item.due and (item.due + timedelta(hours=14)).month) == ({"text": "a"}, 4)
    again = create_by_script(manager_browser, text, "Due.csv", **fields).json["to"]
    assert again.startswith("/manage/due-2/")


@pytest.mark.parametrize(
    ("text", "fields"),
    [("id,text\n1\n", {}), ("id,text\n", {}), ("a,b\n1,2\n", {"title": "x" * 300})],
)
def test_file_refused_after_preview_creates_no_queue(
    empty_server: None, manager_browser: Browser, server: Server, text: str, fields: dict[str, str]
) -> None:
    assert create_by_script(manager_browser, text, "rows.csv", **fields).status_code == 400
    assert leaseq.queues(server.client) == []


def test_job_makes_one_queue(empty_server: None, manager_browser: Browser, server: Server) -> None:
    plan = manager_browser.post("/new-queue/jobs", {"name": "rows.csv"}, page="/new-queue").json

    def press() -> int:
        form = {"name": "rows.csv", "whole": "yes", "piece": (io.BytesIO(b"a\n1\n"), "piece")}
        return manager_browser.post(plan["queue"], form, page="/new-queue").status_code

    assert [press(), press()] == [201, 404]
    assert leaseq.queues(server.client) == ["rows"]


def test_large_file_is_checked_before_queue_is_made(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    plan = manager_browser.post("/new-queue/jobs", {"name": "rows.csv"}, page="/new-queue").json
    large = {"name": "rows.csv", "whole": "no"}

    def press() -> int:
        form = {**large, "piece": (io.BytesIO(b"a,b\n1,2\n3\n"), "piece")}
        return manager_browser.post(plan["queue"], form, page="/new-queue").status_code

    assert press() == 400
    page = stream(manager_browser, "/new-queue", plan["check"], b"a,b\n1\n3\n").text
    assert "No row can be imported." in page
    assert press() == 400
    assert leaseq.queues(server.client) == []
    page = stream(manager_browser, "/new-queue", plan["check"], b"a,b\n1,2\n3\n").text
    assert "Create queue and import 1 row<" in page
    assert leaseq.queues(server.client) == []
    assert press() == 201


def test_form_is_guessed_from_the_chosen_cells(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    rows = 'a,list\n1,"[{""x"": 1}]"\n2,"[{""x"": 2}]"\n'
    for name, cells in (("values", []), ("texts", ["text list"])):
        fields = {"cells": cells, "layout": "csv comma None"}
        assert create_by_script(manager_browser, rows, f"{name}.csv", **fields).status_code == 201
    values, texts = (leaseq.Queue(server.client, name).policy.form["show"] for name in ("values", "texts"))
    assert values != texts


def test_other_choices_than_the_preview_showed_are_previewed_first(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    """Another file may be chosen for the second time, or the encoding changed."""
    fields = chosen_fields(look(manager_browser, "a,b\n1,2\n", "One"), "import")
    response = look(manager_browser, "c,d\n1,2\n", **fields, create="yes")
    assert (response.status_code, chosen_fields(response, "import")["column"]) == (200, ["c", "d"])
    assert leaseq.queues(server.client) == []


def test_form_of_complete_items_shows_their_payload(
    empty_server: None, manager_browser: Browser, server: Server
) -> None:
    rows = '{"id": "1", "payload": {"text": "a"}, "priority": 5}\n'
    assert send(manager_browser, rows, "Items", "items.jsonl").status_code == 303
    queue = leaseq.Queue(server.client, "items")
    assert [entry["field"] for entry in queue.policy.form["show"]] == ["text"]
    assert queue.get("1").payload == {"text": "a"}
