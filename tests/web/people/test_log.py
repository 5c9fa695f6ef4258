"""The audit log."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.people.log import details_of
from leaseq.webapp.store.accounts import Accounts, log
from tests.support.refused import unavailable
from tests.web.conftest import Browser, Caller, Response
from tests.web.elements import attribute, attributes, elements, text_of, texts
from tests.web.manage.import_calls import chosen_fields


def test_audit_log_is_filtered_and_paged(
    accounts: Accounts, sign_in_as: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    admin_browser, name = sign_in_as("admin"), new_name("logged")
    accounts.add(name, by="test")
    for number in range(60):
        accounts.log.write("somebody", "queue.set", name, f"<b>{number}</b>")
    first_page = admin_browser.get(f"/audit-log?person={name}").text
    assert "&lt;b&gt;59&lt;/b&gt;" in first_page
    assert "<b>59" not in first_page
    older_link = attribute(first_page, "a[href^='/audit-log?after=']", "href")
    second_rows = text_of(admin_browser.get(older_link).text)
    assert "<b>0</b>" in second_rows
    assert f"test added {name}" in second_rows
    assert f"test added {name}" in text_of(admin_browser.get(f"/audit-log?person={name}&kind=person").text)
    assert "No matches" in admin_browser.get(f"/audit-log?person={name}&kind=token").text
    assert "&lt;b&gt;59&lt;/b&gt;" in admin_browser.get(f"/audit-log?person={name}&kind=").text, (
        "without a filter"
    )
    assert admin_browser.get(f"/audit-log?after={'9' * 19}-{'9' * 19}").status_code == 200
    for cursor in ("x", f"{'9' * 20}-0", f"1-{'9' * 20}"):  # the server accepts no number above 2**64
        assert admin_browser.get(f"/audit-log?after={cursor}").status_code == 400, cursor
    kinds = attributes(admin_browser.get("/audit-log").text, "option", "value")
    assert set(kinds) >= {"person", "invitation", "sign-in", "token", "queue", "item"}
    assert sign_in_as("manager").get("/audit-log").status_code == 403


def test_entry_is_a_sentence_with_labels_units_and_links(
    accounts: Accounts, sign_in_as: Callable[[str], Browser], form_queue: leaseq.Queue, manager: Caller
) -> None:
    admin_browser, name = sign_in_as("admin"), form_queue.name
    form = {**form_queue.policy.form, "keys": {"z": "glad"}}
    changes = {"lease_seconds": 90, "renewals": 2, "share_drafts": True, "alerts": ["oldest>3600"]}
    manager("PUT", f"/queues/{name}", json={**changes, "form": form, "title": "Mail <b>"})
    manager("PUT", f"/queues/{name}/access", json={"work": None, "manage": {"people": [manager.name]}})
    manager("POST", f"/queues/{name}/items/one/assign", json={"person": manager.name})
    manager("DELETE", f"/queues/{name}/items/one")
    accounts.log.write(manager.name, "queue.paused", "gone", reason="lunch")
    removed, sentence_of = "item one", f"{manager.name} removed item one from Mail <b>"
    page = admin_browser.get(f"/audit-log?person={manager.name}").text
    rows = elements(page, ".log > li")
    assert texts(page, ".log p")[1] == sentence_of
    assert removed not in [text_of(link) for link in elements(rows[1], "a")], "its page is gone"
    links = attributes(rows[2], "a", "href")
    assert links == [f"/people/{manager.name}", f"/manage/{name}/items/one", f"/manage/{name}"]
    assert not elements(rows[0], "a[href^='/manage']"), "the queue is gone"
    english = {
        "Time for one item: 1 min → 1 min 30 s",
        "More time: no limit → 2 times",
        "Share drafts: off → on",
    }
    settings = set(texts(page, ".log > li:nth-child(5) li"))
    assert english <= settings
    assert "Alert rules: none → Wait of the oldest item: above 1 h" in settings
    assert "Form: keys changed" in settings
    german = admin_browser.get(f"/audit-log?person={manager.name}", headers={"Accept-Language": "de"}).text
    assert not set(texts(page, ".log p")) & set(texts(german, ".log p"))
    shared = set(texts(page, ".log li li")) & set(texts(german, ".log li li"))
    assert shared <= {f"Person: {manager.name}", "Token: test"}
    assert "Wer diese Warteschlange verwalten darf" in text_of(german)


def test_search_of_a_bulk_act_is_in_the_language_of_the_reader(app: Flask) -> None:
    search, unknown = {"state": "dead", "text": "rare"}, {"state": "gone"}
    texts_of = {}
    for language in ("en", "de"):
        with app.test_request_context(headers={"Accept-Language": language}):
            texts_of[language] = [detail.value for detail in details_of({"search": search})]
            assert [detail.value for detail in details_of({"search": unknown})] == ["gone"]
    assert texts_of["en"] != texts_of["de"]
    assert all("rare" in text for (text,) in texts_of.values())


def test_log_page_scans_bounded_number_of_entries(
    accounts: Accounts, new_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_BATCH", 2)
    monkeypatch.setattr(log, "_MAX_BATCHES", 2)
    name = new_name("rare")
    accounts.log.write("test", "person.added", name)
    for _ in range(5):
        accounts.log.write("test", "person.added", "somebody else")
    page = accounts.log.page(person=name)
    assert (page.entries, page.after is None) == ((), False)
    assert [entry.about for entry in accounts.log.page(person=name, after=page.after, limit=1).entries] == [
        name
    ]


def test_a_long_detail_is_cut_off_in_the_log(accounts: Accounts, new_name: Callable[[str], str]) -> None:
    name = new_name("detailed")
    for length in (log.MAX_DETAIL, log.MAX_DETAIL + 1):
        accounts.log.write("test", "queue.set", name, "x" * length)
    cut_detail, whole_detail = (entry.detail for entry in accounts.log.page(person=name).entries)
    assert whole_detail == "x" * log.MAX_DETAIL
    assert cut_detail == "x" * (log.MAX_DETAIL - 1) + "…"


def entries_by(accounts: Accounts, by: str) -> list[tuple[str, str, str]]:
    return [
        (entry.what, entry.about, entry.detail)
        for entry in accounts.log.page(person=by).entries
        if entry.by == by
    ]


def test_manager_changes_by_page_and_rest_are_logged(
    accounts: Accounts, form_queue: leaseq.Queue, manager: Caller, sign_in_as: Callable[[str], Browser]
) -> None:
    base = f"/queues/{form_queue.name}"
    manager("PUT", base, json={"lease_seconds": 30, "instructions": "x" * 200})
    manager("POST", f"{base}/pause", json={"reason": "lunch"})
    manager("POST", f"{base}/items", json={"payload": 1})
    manager("GET", f"{base}/stats")
    manager("POST", f"{base}/items/one/assign", json={"person": manager.name})
    changes = {"priority": 10, "requires": ["fr", "de"], "due": None, "payload": "secret"}
    manager("PATCH", f"{base}/items/two", json=changes)
    assert manager("PUT", base, json={"lease_seconds": -1}).status_code == 400
    entries = entries_by(accounts, manager.name)
    assert entries.pop(0) == (
        "item.changed",
        f"{form_queue.name} / two",
        "due: none, payload: changed, priority: 10, requires: fr, de",
    )
    assert [entry[:2] for entry in entries] == [
        ("item.assigned", f"{form_queue.name} / one"),
        ("queue.paused", form_queue.name),
        ("queue.set", form_queue.name),
    ]
    assert "reason: lunch" in entries[1][2]
    assert "lease_seconds: 60 → 30" in entries[2][2]
    assert "instructions: none → xxx" in entries[2][2]
    assert len(entries[2][2]) < 300
    manager_browser = sign_in_as("manager")
    manager_browser.post(f"/manage/{form_queue.name}/resume", page="/account")
    assert entries_by(accounts, manager_browser.name)[0][:2] == ("queue.resumed", form_queue.name)
    manager_browser.post("/manage", {"name": f"{form_queue.name}-2"}, page="/account")
    assert entries_by(accounts, manager_browser.name)[0][:2] == ("queue.made", f"{form_queue.name}-2")


def test_action_succeeds_if_log_write_fails(
    accounts: Accounts, form_queue: leaseq.Queue, manager: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The action is done by then: after an error, the caller would repeat it."""

    def raise_unavailable(*_: object, **_values: object) -> None:
        raise unavailable()

    monkeypatch.setattr(type(accounts.log), "write", raise_unavailable)
    assert manager("POST", f"/queues/{form_queue.name}/pause", json={}).status_code == 200
    assert form_queue.stats().paused is not None


def test_partial_bulk_action_is_logged_after_server_failure(
    accounts: Accounts,
    form_queue: leaseq.Queue,
    manager: Caller,
    sign_in_as: Callable[[str], Browser],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manager_browser, remove = sign_in_as("manager"), leaseq.Queue.remove

    def fail_at_two(queue: leaseq.Queue, id: str, **options: object) -> object:
        if id == "two":
            raise unavailable()
        return remove(queue, id, by=str(options["by"]))

    monkeypatch.setattr(leaseq.Queue, "remove", fail_at_two)
    body = {"action": "remove", "ids": ["one", "two"]}
    assert manager("POST", f"/queues/{form_queue.name}/bulk", json=body).status_code == 503
    assert entries_by(accounts, manager.name)[0] == ("item.removed", form_queue.name, "one, count: 1")
    form_queue.enqueue({}, id="three")
    fields = {"move": "remove", "search": "state=inbound", "id": ["three", "two"]}
    assert manager_browser.post(f"/manage/{form_queue.name}/bulk/do", fields).status_code == 503
    assert entries_by(accounts, manager_browser.name)[0] == (
        "item.removed",
        form_queue.name,
        "three, count: 1",
    )


def test_partial_removal_by_filter_is_logged_after_server_failure(
    accounts: Accounts, form_queue: leaseq.Queue, manager: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_after_one(queue: leaseq.Queue, state: str, **options: Any) -> int:
        queue.remove("one")
        options["on_removed"]("one")
        raise unavailable()

    monkeypatch.setattr(leaseq.Queue, "remove_all", fail_after_one)
    assert manager("POST", f"/queues/{form_queue.name}/remove", json={"state": "inbound"}).status_code == 503
    assert entries_by(accounts, manager.name)[0] == (
        "queue.removed",
        form_queue.name,
        "state: inbound, count: 1",
    )


def test_queue_made_by_rest_is_logged_as_one_made_on_page(
    accounts: Accounts, manager_browser: Browser, manager: Caller, queue: leaseq.Queue
) -> None:
    manager_browser.post("/manage", {"name": f"{queue.name}-page"}, page="/account")
    assert entries_by(accounts, manager_browser.name)[0] == ("queue.made", f"{queue.name}-page", "")
    assert manager("PUT", f"/queues/{queue.name}", json={"lease_seconds": 30}).status_code == 201
    assert entries_by(accounts, manager.name) == [("queue.made", queue.name, "")]


def test_queue_made_from_file_is_logged_with_its_import(
    accounts: Accounts, manager_browser: Browser, new_name: Callable[[str], str]
) -> None:
    title = new_name("file")
    fields = {"title": title, "file": (BytesIO(b"id,text\none,Good\n"), "rows.csv")}
    page = manager_browser.post("/new-queue", fields, page="/new-queue")
    chosen = {**chosen_fields(page, "import"), **fields, "create": "yes"}
    chosen["file"] = (BytesIO(b"id,text\none,Good\n"), "rows.csv")
    assert manager_browser.post("/new-queue", chosen, page="/new-queue").status_code == 303
    assert changes_by(accounts, manager_browser.name) == ["queue.imported", "queue.made"]


def test_invalid_request_returns_400_despite_unreadable_policy(
    manager: Caller, unreadable_queue: leaseq.Queue
) -> None:
    """The answer is about the request's error, not about what the log finds before the view is called."""
    for name in (unreadable_queue.name, "no name"):
        response = manager("PUT", f"/queues/{name}", json={"lease_minutes": 1})
        assert (response.status_code, response.json["field"]) == (400, "lease_minutes")
        response = manager("POST", f"/queues/{name}/clear", json={"all": True})
        assert (response.status_code, response.json["field"]) == (400, "all")
    pause_response = manager("POST", f"/queues/{unreadable_queue.name}/pause", json={})
    assert (pause_response.status_code, pause_response.json["code"]) == (503, "queue-unreadable")


def changes_by(accounts: Accounts, by: str) -> list[str]:
    return [act for act, *_ in entries_by(accounts, by) if not act.startswith("sign-in")]


def test_import_is_logged_but_check_is_not(
    accounts: Accounts, manager_browser: Browser, manager: Caller, queue: leaseq.Queue
) -> None:
    queue.configure()
    page = f"/manage/{queue.name}/import"

    def send_file(path: str, **fields: str) -> Response:
        file = (BytesIO(b"text\nGood\n"), "rows.csv")
        return manager_browser.post(path, {"format": "csv", "file": file, **fields}, page=page)

    assert "1 row can be imported" in send_file(page, check="yes").text
    plan = manager_browser.post(f"{page}/jobs", {"format": "csv", "name": "rows.csv"}, page=page).json
    headers = {"X-CSRFToken": manager_browser.csrf(page)}
    assert (
        manager_browser.client.post(plan["check"], data=b"text\nGood\n", headers=headers).status_code == 200
    )
    assert changes_by(accounts, manager_browser.name) == []
    assert send_file(page).status_code == 303
    assert changes_by(accounts, manager_browser.name) == ["queue.imported"]
    for kind, body in (("text/csv", b"text\nBad\n"), ("application/json", b'[{"text": "Bad"}]')):
        path = f"/queues/{queue.name}/import"
        assert manager("POST", path, data=body, content_type=kind).status_code == 200
    assert changes_by(accounts, manager.name) == ["queue.imported"] * 2


def test_log_tolerates_invalid_body_unused_by_view(
    accounts: Accounts, manager: Caller, form_queue: leaseq.Queue
) -> None:
    path = f"/queues/{form_queue.name}/items/one"
    assert manager("DELETE", path, data=b"not JSON", content_type="application/json").status_code == 204
    assert changes_by(accounts, manager.name) == ["item.removed"]


def test_the_log_does_not_read_the_rest_of_an_imported_file(
    accounts: Accounts, manager: Caller, form_queue: leaseq.Queue
) -> None:
    """The import stops at the first piece of a file that is no array; the rest may not fit into memory."""
    data = b"neither an array nor a line\n" * 100_000
    file = BytesIO(data)
    response = manager(
        "POST",
        f"/queues/{form_queue.name}/import",
        input_stream=file,
        content_length=len(data),
        content_type="application/json",
    )
    assert (response.status_code, response.json["rejected"]) == (200, 1)
    assert file.tell() < len(data) / 2
    assert changes_by(accounts, manager.name) == ["queue.imported"]


def test_requests_without_change_are_not_logged(
    accounts: Accounts, manager_browser: Browser, manager: Caller, queue: leaseq.Queue
) -> None:
    queue.configure()
    manager_browser.post(f"/manage/{queue.name}/access", {"work": "", "manage": ""})
    manager("PUT", f"/queues/{queue.name}/access", json={"work": None, "manage": None})
    manager("PUT", f"/queues/{queue.name}", json={"lease_seconds": queue.policy.lease_seconds})
    manager("POST", f"/queues/{queue.name}/remove", json={"state": "dead"})
    manager_browser.post(f"/manage/{queue.name}/late/adopt", {"key": "1 none"})
    manager("POST", f"/queues/{queue.name}/bulk", json={"action": "remove", "ids": ["none"]})
    assert changes_by(accounts, manager_browser.name) == []
    assert changes_by(accounts, manager.name) == []
