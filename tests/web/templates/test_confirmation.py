"""Destructive actions ask for confirmation: their button is inside a text about the effect."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser

PATHS = (
    "/disable",
    "/sign-out",
    "/unlink-provider",
    "/revoke",
    "/adopt",
    "/remove",
    "/release",
    "/pause",
    "/clear",
)


class FormParser(HTMLParser):
    """Collects each form's action, and the text of the ``details`` element around it, or None without one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: dict[str, str | None] = {}
        self._words: list[str] = []
        self._action: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "details":
            self._words.append("")
        elif tag == "form":
            self._action = dict(attrs).get("action") or ""
            self.forms[self._action] = self._words[-1] if self._words else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self._words.pop()
        elif tag == "form":
            self._action = None

    def handle_data(self, data: str) -> None:
        if self._words:
            self._words[-1] += data
            if self._action:
                self.forms[self._action] = self._words[-1]


def destructive_forms(page: str) -> dict[str, str | None]:
    return {
        action: words
        for action, words in FormParser(page).forms.items()
        if any(path in action for path in PATHS)
    }


def test_destructive_actions_on_people_ask_for_confirmation(
    sign_in_as: Callable[[str], Browser], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = accounts.add(new_name("told"), by="test").name
    accounts.create_token(name, "a program", by="test")
    admin_browser = sign_in_as("admin")
    accounts.invite(by=admin_browser.name)
    for path, expected in ((f"/people/{name}", {"sign-out", "revoke", "disable"}), ("/people", {"revoke"})):
        forms = destructive_forms(admin_browser.get(path).text)
        assert {action.rpartition("/")[2] for action in forms} == expected
        for action, words in forms.items():
            assert words, f"{action} asks nothing"
            assert len(words.split()) > 6, f"{action} does not say what it does: {words}"


def test_destructive_actions_on_queues_ask_for_confirmation(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    lease = form_queue.reserve("ann")
    assert lease
    form_queue.release(lease.id)
    assert form_queue.reserve("bob")
    with pytest.raises(leaseq.LeaseLost):
        form_queue.finish(lease, {"about": "refund", "urgent": True})
    item_forms = destructive_forms(manager_browser.get(f"/manage/{form_queue.name}/items/{lease.id}").text)
    assert {action.rpartition("/")[2] for action in item_forms} == {"adopt", "remove", "release"}
    queue_forms = destructive_forms(manager_browser.get(f"/manage/{form_queue.name}").text)
    assert {action.rpartition("/")[2] for action in queue_forms} == {"pause", "clear"}
    for action, words in {**item_forms, **queue_forms}.items():
        assert words, f"{action} asks nothing"
        assert len(words.split()) > 6, f"{action} does not say what it does: {words}"
    assert "takes it from bob" in (item_forms[f"/manage/{form_queue.name}/items/{lease.id}/adopt"] or "")
