"""What ends something, or can't be undone, asks first: its button is behind words that say what it does."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import Browser

ENDS = ("/disable", "/sign-out", "/untie", "/revoke", "/adopt", "/remove", "/release", "/pause", "/clear")


class FormParser(HTMLParser):
    """Where each form goes, and the words of the details that it is in; None: it stands open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, str | None] = {}
        self._words: list[str] = []
        self._action: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "details":
            self._words.append("")
        elif tag == "form":
            self._action = dict(attrs).get("action") or ""
            self.found[self._action] = self._words[-1] if self._words else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self._words.pop()
        elif tag == "form":
            self._action = None

    def handle_data(self, data: str) -> None:
        if self._words:
            self._words[-1] += data
            if self._action:
                self.found[self._action] = self._words[-1]


def ending(page: str) -> dict[str, str | None]:
    return {
        action: said for action, said in FormParser(page).found.items() if any(end in action for end in ENDS)
    }


def test_what_ends_something_of_a_person_asks_first(
    visitor: Callable[[str], Browser], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = accounts.add(new_name("told"), by="test").name
    accounts.create_token(name, "a program", by="test")
    boss = visitor("admin")
    accounts.invite(by=boss.name)
    for path, wanted in ((f"/people/{name}", {"sign-out", "revoke", "disable"}), ("/people", {"revoke"})):
        forms = ending(boss.get(path).text)
        assert {action.rpartition("/")[2] for action in forms} == wanted
        for action, said in forms.items():
            assert said, f"{action} asks nothing"
            assert len(said.split()) > 6, f"{action} does not say what it does: {said}"


def test_what_ends_something_of_a_queue_asks_first(boss: Browser, asking: leaseq.Queue) -> None:
    lease = asking.reserve("ann")
    assert lease
    asking.release(lease.id)
    assert asking.reserve("bob")
    with pytest.raises(leaseq.LeaseLost):
        asking.finish(lease, {"about": "refund", "urgent": True})
    item = ending(boss.get(f"/manage/{asking.name}/items/{lease.id}").text)
    assert {action.rpartition("/")[2] for action in item} == {"adopt", "remove", "release"}
    queue = ending(boss.get(f"/manage/{asking.name}").text)
    assert {action.rpartition("/")[2] for action in queue} == {"pause", "release", "remove", "clear"}
    for action, said in {**item, **queue}.items():
        assert said, f"{action} asks nothing"
        assert len(said.split()) > 6, f"{action} does not say what it does: {said}"
    assert "bob loses it" in (item[f"/manage/{asking.name}/items/{lease.id}/adopt"] or "")
