"""Pages for managers and admins."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import not_none
from tests.web.conftest import FORM, Browser
from tests.web.elements import attributes, element, elements, texts


def test_manager_creates_configures_fills_and_watches_queue(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    base = f"/manage/{queue.name}"
    response = manager_browser.post("/manage", {"name": queue.name, "title": "Triage"})
    assert response.location == f"{base}/settings"
    settings = {
        "title": "Triage",
        "instructions": "Be *kind*",
        "form": json.dumps(FORM),
    }
    assert manager_browser.post(f"{base}/settings", settings).location == f"{base}/settings"
    times = {"lease_seconds": "90", "renewals": "", "holds": "1"}
    assert manager_browser.post(f"{base}/settings/time", times).status_code == 303
    retries = {"max_attempts": "2", "max_abandons": "", "retry_seconds": "2", "share_drafts": "yes"}
    assert manager_browser.post(f"{base}/settings/retries", retries).status_code == 303
    policy = queue.policy
    assert (policy.form, policy.lease_seconds, policy.max_attempts) == (FORM, 90, 2)
    assert (policy.share_drafts, policy.renewals, policy.instructions) == (True, None, "Be *kind*")
    file = (io.BytesIO(b"id,text\na,one\nb,two\nb,again\nc\n"), "rows.csv")
    import_response = manager_browser.post(
        f"{base}/import", {"file": file, "id": "id", "skip": "yes"}, follow_redirects=True
    )
    assert "2 added, 0 duplicates, 1 skipped. 1 row has an id that belongs" in import_response.text
    assert "Line 5" in import_response.text
    lease = queue.reserve("worker one")
    assert lease
    page = manager_browser.get(base).text
    assert "worker one" in page
    assert f"{base}/items?state=inbound" in page
    assert manager_browser.post(f"{base}/items/a/release", {"back": "yes"}).location == base
    assert "The item is released" in manager_browser.get(base).text
    assert queue.mine("worker one") == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "Not A Name"}, "1 to 64 characters"),
        ({"name": ""}, "1 to 64 characters"),
        ({"name": "fine", "title": "x" * 201}, "title"),
    ],
)
def test_invalid_queue_is_not_created(
    manager_browser: Browser, server: Any, fields: dict[str, str], message: str
) -> None:
    response = manager_browser.post("/manage", fields)
    assert response.status_code == 400
    assert message in response.text
    assert "fine" not in leaseq.queues(server.client)


def test_existing_queue_is_not_created_again(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    assert manager_browser.post("/manage", {"name": form_queue.name, "title": "Other"}).status_code == 400
    assert form_queue.policy.title == "Triage"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Choose a file first"),
        ({"file": (io.BytesIO(b"x"), "rows.dat")}, "ends with none of .csv"),
        ({"file": (io.BytesIO(b"x"), "rows.xls")}, "save it as xlsx or as CSV"),
        ({"file": (io.BytesIO(b"a\n1\n"), "rows.csv"), "id": "id"}, "id"),
        ({"file": (io.BytesIO(b"a\n1\n"), "rows.csv"), "envelope": "yes"}, "csv"),
        ({"file": (io.BytesIO(b"a\n1\n"), "rows.csv"), "format": "xml"}, "xml"),
    ],
)
def test_invalid_import_is_refused(
    manager_browser: Browser, queue: leaseq.Queue, fields: dict[str, Any], message: str
) -> None:
    queue.configure()
    response = manager_browser.post(f"/manage/{queue.name}/import", fields, follow_redirects=True)
    assert message in response.text
    assert queue.stats().inbound == 0


def test_import_accepts_file_larger_than_body_limit(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    row = json.dumps({"text": "x" * 5_000}) + "\n"
    head = 'Content-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
    parts = [
        head.format("csrf_token", "", manager_browser.csrf("/account")),
        head.format("file", '; filename="rows.jsonl"', row * 2_000),
    ]
    body = "--x\r\n" + "--x\r\n".join(parts) + "--x--\r\n"
    response = manager_browser.client.post(
        f"/manage/{queue.name}/import",
        data=body.encode(),
        content_type="multipart/form-data; boundary=x",
        follow_redirects=True,
    )
    assert "2,000 added" in response.text


def test_queue_is_paused_resumed_and_cleared(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    base = f"/manage/{form_queue.name}"
    manager_browser.post(f"{base}/pause", {"reason": "lunch"})
    assert form_queue.stats().paused == "lunch"
    assert "Paused: lunch" in manager_browser.get(base).text
    manager_browser.post(f"{base}/resume")
    assert form_queue.stats().paused is None
    manager_browser.post(f"{base}/clear")
    assert "0 returned, 0 released, 0 failed." in manager_browser.get(base).text


def test_item_page_shows_history_and_manager_actions(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    form_queue.configure(max_attempts=1)
    base = f"/manage/{form_queue.name}"
    form_queue.fail(not_none(form_queue.reserve("ann")), "unreadable <scan>")
    assert "unreadable &lt;scan&gt;" in manager_browser.get(f"{base}/items?state=dead").text
    page = manager_browser.get(f"{base}/items/one").text
    assert "ann got it" in page
    assert "unreadable &lt;scan&gt;" in page
    assert manager_browser.post(f"{base}/items/one/revive").location == f"{base}/items/one"
    lease = not_none(form_queue.reserve("ann"))
    form_queue.release("one")
    form_queue.reserve("bob")
    with pytest.raises(leaseq.LeaseLost):
        form_queue.finish(lease, {"about": "refund", "urgent": True})
    assert "Accept the late answer from ann" in manager_browser.get(f"{base}/items/one").text
    assert manager_browser.post(f"{base}/items/one/adopt", {"token": str(lease.token)}).status_code == 303
    assert form_queue.get("one").answers[0].person == "ann"
    assert manager_browser.post(f"{base}/items/one/remove").location == base
    assert manager_browser.get(f"{base}/items/one").status_code == 404


def test_item_that_was_answered_meanwhile_is_not_removed(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    """The page of the item, its row among the reports, and a bulk action show it without an answer."""
    base = f"/manage/{form_queue.name}"
    page = manager_browser.get(f"{base}/items/one").text
    assert elements(page, f"form[action='{base}/items/one/remove'] [name=unless][value=finished]")
    lease = not_none(form_queue.reserve("ann"))
    form_queue.finish(lease, {"about": "refund", "urgent": True})
    response = manager_browser.post(f"{base}/items/{lease.id}/remove", {"unless": "finished"})
    assert response.location == f"{base}/items/{lease.id}"
    assert form_queue.get(lease.id).answers
    page = manager_browser.get(f"{base}/items/{lease.id}").text
    form = element(page, f"form[action='{base}/items/{lease.id}/remove']")
    assert elements(form, "[name=unless]") == [], "now the manager sees the answer"
    assert manager_browser.post(f"{base}/items/{lease.id}/remove").location == base


def test_item_list_is_paged(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.enqueue_many([leaseq.NewItem(n, id=f"item-{n:03}") for n in range(120)])
    titles: list[str] = []
    path: str | None = f"/manage/{queue.name}/items?state=inbound"
    while path:
        page = manager_browser.get(path).text
        titles += texts(page, "a.title")
        path = next(iter(attributes(page, "a:lexbor-contains('Next page')", "href")), None)
    assert titles == [f"item-{n:03}" for n in range(120)]


@pytest.mark.parametrize(
    "path",
    ["", "/settings", "/import", "/items", "/items/one", "/export", "/items?state=inbound"],
)
def test_pages_of_missing_queue_return_404(manager_browser: Browser, path: str) -> None:
    assert manager_browser.get(f"/manage/not-there{path}").status_code == 404


@pytest.mark.parametrize("path", ["/items?state=lost", "/items?state=inbound&after=x"])
def test_invalid_list_query_is_refused(manager_browser: Browser, form_queue: leaseq.Queue, path: str) -> None:
    assert manager_browser.get(f"/manage/{form_queue.name}{path}").status_code == 400


def test_an_admin_changes_people(
    sign_in_as: Callable[[str], Browser], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    admin_browser, name = sign_in_as("admin"), new_name("person %")
    assert "/welcome?token=" in admin_browser.post("/people", {"name": name, "role": "worker"}).text
    response = admin_browser.post("/people", {"name": name, "role": "worker"})
    assert (response.status_code, "already" in response.text) == (400, True)
    from urllib.parse import quote

    accounts.add(name, by="test")
    base = f"/people/{quote(name)}"
    assert admin_browser.post(f"{base}/change", {"role": "manager", "skills": "fr de"}).status_code == 303
    assert admin_browser.post(f"{base}/change", {"role": "manager", "skills": "No Good!"}).status_code == 400
    person = accounts.get(name)
    assert (person.role, person.skills) == ("manager", ("de", "fr"))
    admin_browser.post(f"{base}/disable")
    assert accounts.get(name).disabled
    admin_browser.post(f"{base}/enable")
    assert not accounts.get(name).disabled
    assert "/welcome?token=" in admin_browser.post(f"{base}/link").text
    accounts.create_token(name, "their script", by="test")
    assert "their script" in admin_browser.get(base).text
    admin_browser.post(f"{base}/tokens/{accounts.tokens(name)[0].id}/revoke")
    assert accounts.tokens(name) == []
    assert "Role: worker → manager" in admin_browser.get(f"/audit-log?person={quote(name)}").text
    assert admin_browser.get("/people/nobody of that name").status_code == 404
    assert admin_browser.post("/people/nobody of that name/disable").status_code == 404
