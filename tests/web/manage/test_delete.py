"""Deleting a queue: the typed name confirms it, and people who hold its items see that it is deleted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import take
from tests.web.conftest import FORM, Browser


def test_delete_page_lists_data_and_requires_name(
    manager_browser: Browser, mixed_queue: leaseq.Queue, accounts: Accounts
) -> None:
    mixed_queue.configure(title="Mixed items")
    path = f"/manage/{mixed_queue.name}/delete"
    assert f'href="{path}"' in manager_browser.get(f"/manage/{mixed_queue.name}/settings/advanced").text
    page = manager_browser.get(path).text
    for text in (
        "7 items, with",
        "1 answer.",
        "2 items are held right now",
        "title, Mixed items, to delete",
    ):
        assert text in page
    for name in ("", mixed_queue.name.upper(), "Mixed"):
        refusal = manager_browser.post(path, {"name": name})
        assert refusal.status_code == 400
        assert 'aria-invalid="true"' in refusal.text
    assert mixed_queue.stats().dead == 2
    response = manager_browser.post(path, {"name": " Mixed items "}, follow_redirects=True)
    assert "The queue Mixed items is deleted." in response.text
    assert not mixed_queue.exists()
    line = accounts.log.latest(1)[0]
    assert (line.what, line.about, line.values) == (
        "queue.deleted",
        mixed_queue.name,
        {"count": 7, "held": 2},
    )
    assert manager_browser.get(path).status_code == 404


@pytest.mark.parametrize("role", ["worker", "manager"])
def test_only_managers_delete_queue(
    sign_in_as: Callable[[str], Browser], queue: leaseq.Queue, role: str
) -> None:
    queue.configure()
    someone = sign_in_as(role)
    response = someone.post(f"/manage/{queue.name}/delete", {"name": queue.name})
    assert (response.status_code, queue.exists()) == ((403, True) if role == "worker" else (303, False))


@pytest.mark.parametrize("way", ["finish", "abandon", "fail", "renew"])
def test_lease_action_on_deleted_queue_returns_typed_text(
    sign_in_as: Callable[[str], Browser], queue: leaseq.Queue, way: str
) -> None:
    ann = sign_in_as("worker")
    queue.configure(form=FORM)
    queue.enqueue({"text": "x"}, id="one")
    lease = take(queue, ann.name)
    queue.delete()
    fields = {"token": str(lease.token), "about": "what I thought", "error": "it is <torn>"}
    response = ann.post(f"/q/{queue.name}/items/one/{way}", fields)
    assert response.status_code == 404
    assert "it was deleted, with its items" in response.text
    assert "What you typed" in response.text
    assert "what I thought" in response.text
    assert "it is &lt;torn&gt;" in response.text
    assert response.text.count(f">{lease.token}<") == 0


def test_receipt_fragment_reports_deleted_queue(
    sign_in_as: Callable[[str], Browser], queue: leaseq.Queue
) -> None:
    ann = sign_in_as("worker")
    queue.enqueue({}, id="one")
    lease = take(queue, ann.name)
    queue.delete()
    fragment = ann.get(f"/q/{queue.name}/items/one/outcome?token={lease.token}")
    assert fragment.status_code == 404
    assert fragment.text.startswith("<p>This queue was deleted, with all its items.")
    assert "it was deleted" in ann.get(f"/q/{queue.name}").text
