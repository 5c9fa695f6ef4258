"""The form on an item's page that changes a waiting item."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from typing import Any, cast

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import not_none, take
from tests.web.conftest import Browser, Response
from tests.web.elements import text_of

DUE = datetime(2027, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(queue: leaseq.Queue) -> str:
    queue.enqueue({"text": "a < b"}, id="r-1", priority=200, requires=["fr", "legal"], due=DUE)
    return f"/manage/{queue.name}/items/r-1"


def form(page: str) -> dict[str, str]:
    """The fields of the form and their values, as a browser would send them."""
    text = not_none(re.search(r"<form [^>]*/change[^>]*enctype[^>]*>.*?</form>", page, re.DOTALL))[0]
    fields = dict(re.findall(r'<input [^>]*?name="(\w+)"[^>]*?value="([^"]*)"', text))
    fields |= dict(re.findall(r'<textarea [^>]*?name="(\w+)"[^>]*>\n(.*?)</textarea>', text, re.DOTALL))
    fields.pop("available_now", None)
    return {name: html.unescape(value).replace("\n", "\r\n") for name, value in fields.items()}


def send(browser: Browser, path: str, **fields: str) -> Response:
    response = browser.client.post(
        f"{path}/change", data={**form(browser.get(path).text), "confirmed": "yes", **fields}
    )
    return cast("Response", response)


def test_number_that_may_mean_two_is_asked_and_not_called_out_of_range(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    response = send(manager_browser, path, priority="1,000")
    assert response.status_code == 400
    assert "1 or 1000" in text_of(response.text), text_of(response.text)
    assert queue.get("r-1").priority == 200


def test_form_shows_values_and_saves_changes(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    fields = form(manager_browser.get(path).text)
    assert (fields["priority"], fields["due"], fields["requires"]) == ("200", "2027-05-01T12:00", "fr legal")
    assert fields["payload"] == '{\r\n  "text": "a < b"\r\n}'
    response = send(manager_browser, path, priority="10", requires="de, fr")
    assert (response.status_code, response.location) == (303, path)
    item = queue.get("r-1")
    assert (item.priority, item.requires, item.due, item.payload) == (
        10,
        ("de", "fr"),
        DUE,
        {"text": "a < b"},
    )
    page = text_of(manager_browser.get(path).text)
    assert "Changed: priority, skills." in page
    assert f"{manager_browser.name} changed it: priority 10, skills de, fr" in page
    send(manager_browser, path, due="", payload='["new"]', requires="")
    item = queue.get("r-1")
    assert (item.due, item.payload, item.requires, item.priority) == (None, ["new"], (), 10)
    assert "changed it: due date none, skills none, content" in text_of(manager_browser.get(path).text)


def test_untouched_fields_do_not_overwrite_concurrent_change(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    """Somebody else changed the priority while the form was open."""
    fields = form(manager_browser.get(path).text)
    queue.change("r-1", priority=1)
    manager_browser.client.post(f"{path}/change", data={**fields, "due": "2028-01-01T00:00"})
    item = queue.get("r-1")
    assert (item.priority, item.due) == (1, datetime(2028, 1, 1, tzinfo=UTC))


def test_unchanged_form_changes_nothing_and_is_not_logged(
    manager_browser: Browser, queue: leaseq.Queue, path: str, accounts: Accounts
) -> None:
    assert send(manager_browser, path).status_code == 303
    assert "Nothing was changed." in text_of(manager_browser.get(path).text)
    assert "changed" not in [event.what for event in queue.journal()]
    assert [
        one
        for one in accounts.log.latest(20)
        if one.by == manager_browser.name and one.what.startswith("item")
    ] == []


def test_audit_log_names_changed_fields(
    manager_browser: Browser, queue: leaseq.Queue, path: str, accounts: Accounts
) -> None:
    send(manager_browser, path, priority="10", payload='"secret"')
    entry = next(one for one in accounts.log.latest(20) if one.by == manager_browser.name)
    assert (entry.what, entry.about) == ("item.changed", f"{queue.name} / r-1")
    assert entry.detail == "payload: changed, priority: 10"


BAD = [
    ("priority", "", "a whole number"),
    ("priority", "ten", "a whole number"),
    ("priority", "1000001", "to 1,000,000"),
    ("due", "tomorrow", "a date and a time in UTC"),
    ("due", "0001-01-01T00:00", "from 1970 to 9000"),
    ("requires", "a/b", "at most 16 skills"),
    ("payload", "{", "well-formed JSON"),
    ("payload", "", "well-formed JSON"),
    ("payload", '{"a": 1, "a": 2}', "twice"),
    ("payload", '"' + "x" * 262_144 + '"', "262,144 bytes"),
]


@pytest.mark.parametrize(("field", "text", "message"), BAD)
def test_invalid_change_is_refused_and_form_keeps_input(
    manager_browser: Browser, queue: leaseq.Queue, path: str, field: str, text: str, message: str
) -> None:
    before = queue.get("r-1")
    fields: dict[str, Any] = {"priority": "7", "requires": "es", "payload": '["typed"]', field: text}
    response = send(manager_browser, path, **fields)
    assert response.status_code == 400
    label = {"due": "Due date", "requires": "Skills", "payload": "Content"}.get(field, field.capitalize())
    assert f"Not changed: {label}" in text_of(response.text)
    assert message in text_of(response.text)
    assert {name: form(response.text)[name] for name in fields} == fields
    assert queue.get("r-1") == before
    corrected_fields = {**form(response.text), "priority": "8", "due": "", "payload": "[1]"}
    corrected_fields |= {"requires": "es", "confirmed": "yes"}
    assert manager_browser.client.post(f"{path}/change", data=corrected_fields).status_code == 303
    item = queue.get("r-1")
    assert (item.priority, item.requires, item.payload) == (8, ("es",), [1])


def test_change_of_reserved_item_is_refused_and_form_keeps_input(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    fields = form(manager_browser.get(path).text)
    take(queue, "ann", "fr", "legal")
    response = manager_browser.client.post(f"{path}/change", data={**fields, "payload": '"typed"'})
    assert response.status_code == 400
    assert "release it first" in text_of(response.text)
    assert form(response.text)["payload"] == '"typed"'


def test_only_waiting_items_have_change_form(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    lease = take(queue, "ann", "fr", "legal")
    assert "/change" not in manager_browser.get(path).text
    queue.finish(lease, {})
    assert "/change" not in manager_browser.get(path).text
    queue.configure(answers=2)
    queue.enqueue({}, id="two")
    held_lease = take(queue, "ann")
    page = manager_browser.get(f"/manage/{queue.name}/items/two").text
    assert "payload" not in form(page), "somebody holds it"
    assert send(manager_browser, f"/manage/{queue.name}/items/two", priority="1").status_code == 303
    assert queue.get("two").priority == 1
    assert queue.mine("ann") == [held_lease]


def test_dead_item_is_changed_and_revived_in_one_step(
    manager_browser: Browser, queue: leaseq.Queue, path: str, accounts: Accounts
) -> None:
    queue.configure(max_attempts=1)
    queue.fail(take(queue, "ann", "fr", "legal"), "no")
    assert "Save and hand out again" in text_of(manager_browser.get(path).text)
    send(manager_browser, path, payload='"right"')
    assert (queue.get("r-1").state, queue.get("r-1").payload) == ("dead", "right")
    send(manager_browser, path, payload='"righter"', then="revive")
    assert (queue.get("r-1").state, queue.get("r-1").payload) == ("inbound", "righter")
    page = text_of(manager_browser.get(path).text)
    assert "Changed: content." in page
    assert "It is waiting again" in page
    actions = [one.what for one in accounts.log.latest(20) if one.about == f"{queue.name} / r-1"]
    assert sorted(actions) == ["item.changed", "item.changed", "item.revived"]


def test_change_is_saved_even_if_revive_is_refused(
    manager_browser: Browser,
    queue: leaseq.Queue,
    path: str,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue.configure(max_attempts=1)
    queue.fail(take(queue, "ann", "fr", "legal"), "no")
    revive = leaseq.Queue.revive

    def finish_and_revive(self: leaseq.Queue, id: str, **by: str) -> leaseq.Item:
        revive(queue, id)
        queue.finish(take(queue, "bob", "fr", "legal"), {})
        return revive(self, id, **by)

    monkeypatch.setattr(leaseq.Queue, "revive", finish_and_revive)
    assert send(manager_browser, path, payload='"right"', then="revive").status_code == 303
    assert queue.get("r-1").payload == "right"
    page = text_of(manager_browser.get(path).text)
    assert "Changed: content." in page
    assert "Not changed" not in page
    assert "Not handed out: " in page
    actions = [one.what for one in accounts.log.latest(20) if one.about == f"{queue.name} / r-1"]
    assert actions == ["item.changed"]


def test_scheduled_item_is_made_available_at_once(
    manager_browser: Browser, queue: leaseq.Queue, path: str
) -> None:
    queue.change("r-1", delay=3600)
    assert send(manager_browser, path).status_code == 303
    assert queue.get("r-1").state == "scheduled"
    send(manager_browser, path, available_now="yes")
    assert queue.get("r-1").state == "inbound"
    page = text_of(manager_browser.get(path).text)
    assert "changed it: available after 1 h" in page
    assert "changed it: available at once" in page


@pytest.mark.parametrize(
    ("due", "text"),
    [
        (datetime(2027, 5, 1, 12, 30, 10, tzinfo=UTC), "2027-05-01T12:30:10"),
        (datetime(2027, 5, 1, 12, 30, 10, 250_000, tzinfo=UTC), "2027-05-01T12:30:10.25"),
        (datetime(2027, 5, 1, 12, 30, 0, 1, tzinfo=UTC), "2027-05-01T12:30"),
    ],
)
def test_due_date_is_shown_in_browser_format(
    manager_browser: Browser, queue: leaseq.Queue, path: str, due: datetime, text: str
) -> None:
    queue.change("r-1", due=due)
    assert form(manager_browser.get(path).text)["due"] == text
    send(manager_browser, path, priority="1")
    assert queue.get("r-1").due == due, "not typed, so it is unchanged to the microsecond"


def test_change_form_is_for_managers_only(worker_browser: Browser, queue: leaseq.Queue, path: str) -> None:
    assert worker_browser.post(f"{path}/change", {"priority": "1"}).status_code == 403
    assert queue.get("r-1").priority == 200
