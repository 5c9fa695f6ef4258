"""Names of accounts: one spelling, nothing that can't be seen, none that is taken for another's."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner, Result
from flask import Flask

import leaseq
from leaseq import Invalid
from leaseq.cli import main
from leaseq.webapp.store.accounts import Accounts, keys
from leaseq.webapp.store.accounts.people import Record
from tests.web.conftest import CHEAP, PASSWORD, Browser, Caller
from tests.web.people.test_people import joined


def lookalike(name: str) -> str:
    """With a Cyrillic letter for each a and e."""
    return name.replace("a", "\u0430").replace("e", "\u0435")


@pytest.fixture
def ann(accounts: Accounts, new_name: Callable[[str], str]) -> str:
    """Somebody who has an account."""
    name = "ann" + new_name("")
    accounts.add(name, by="test")
    return name


def test_rest_adds_nobody_who_looks_like_somebody(admin: Caller, accounts: Accounts, ann: str) -> None:
    for other in (lookalike(ann), ann.upper()):
        answer = admin("PUT", f"/people/{quote(other)}", json={})
        assert (answer.status_code, answer.get_json()["field"]) == (400, "name"), other
        assert ann in answer.get_json()["detail"]
        assert accounts.find(other) is None
    assert admin("PUT", f"/people/{ann}", json={}).status_code == 200


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u3164", "\ufe0f", "\u2800"])
def test_rest_adds_nobody_whose_name_is_not_all_seen(admin: Caller, new_name: Any, hidden: str) -> None:
    answer = admin("PUT", f"/people/{quote(new_name('eve') + hidden)}", json={})
    assert (answer.status_code, answer.get_json()["field"]) == (400, "name")


def test_a_name_is_kept_in_one_spelling_and_found_in_any(
    admin: Caller, app: Flask, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    composed = new_name("zoë")
    apart = unicodedata.normalize("NFD", composed)
    assert admin("PUT", f"/people/{quote(apart)}", json={}).get_json()["name"] == composed
    assert admin("PUT", f"/people/{quote(apart)}", json={"skills": ["fr"]}).get_json()["name"] == composed
    assert [one.name for one in accounts.people()].count(composed) == 1
    accounts.set_password(apart, PASSWORD, by="test")
    browser = Browser(app, apart)
    assert browser.sign_in().status_code == 303
    assert composed in browser.get("/account").text


def test_who_joins_gets_no_name_that_looks_like_one_that_is_taken(
    app: Flask, accounts: Accounts, ann: str
) -> None:
    link = f"/welcome?token={accounts.invite(by='test')}"
    for name in (lookalike(ann), ann.title(), ann + "\u3164"):
        _browser, answer = joined(app, link, name=name)
        assert answer.status_code == 400, name
        assert accounts.find(name) is None
    assert joined(app, link, name=ann + "-2")[1].status_code == 303


def test_nobody_is_invited_by_a_name_that_looks_like_another(
    accounts: Accounts, ann: str, new_name: Callable[[str], str]
) -> None:
    with pytest.raises(Invalid, match="looks like"):
        accounts.invite(by="test", name=lookalike(ann))
    name = new_name("anna")
    accounts.invite(by="test", name=name)
    with pytest.raises(Invalid, match="looks like"):
        accounts.invite(by="test", name=lookalike(name))


def test_the_command_line_adds_nobody_who_looks_like_somebody(
    server: Any, accounts: Accounts, ann: str
) -> None:
    words = ["user", "add", lookalike(ann), "--password-stdin", "--redis", server.url]
    added = CliRunner().invoke(main, words, input=PASSWORD + "\n")
    assert added.exit_code == 2
    assert "looks like" in added.stderr
    assert accounts.find(lookalike(ann)) is None


def test_the_first_admin_looks_like_nobody(server: Any, tmp_path: Any) -> None:
    from leaseq.server.embedded import EmbeddedServer

    with EmbeddedServer(tmp_path, fsync="no") as new:
        accounts = Accounts(leaseq.connect(new.url), passwords=CHEAP)
        accounts.add("ann", by="test")
        token = accounts.setup_token()
        assert token
        with pytest.raises(Invalid, match="looks like"):
            accounts.set_up(token, lookalike("ann"), PASSWORD)
        assert accounts.set_up(token, "ann2", PASSWORD).role == "admin"


def test_the_identity_provider_makes_nobody_who_looks_like_somebody(accounts: Accounts, ann: str) -> None:
    with pytest.raises(Invalid, match="looks like"):
        accounts.by_provider(lookalike(ann), "issuer somebody", create=True)


@pytest.mark.parametrize("kept", ["ann\u0308", "ann\u3164", "ANN"])
def test_who_was_there_before_these_rules_still_signs_in(
    app: Flask, server: Any, accounts: Accounts, new_name: Callable[[str], str], kept: str
) -> None:
    """Kept apart, with a filler in it, or looking like somebody else's."""
    name = new_name(kept)
    accounts.add(new_name("other"), by="test")
    record = Record(name=name, role="worker", created=1.0, password=CHEAP.hash(PASSWORD, name))
    for one in (Record(name.lower(), "worker", 1.0), record):
        server.client.redis.hset(keys.PEOPLE, one.name, one.dump())
    browser = Browser(app, name)
    assert browser.sign_in().status_code == 303
    assert browser.get("/account").status_code == 200


@pytest.fixture
def two_titles(server: Any, queue_name: str) -> tuple[leaseq.Queue, leaseq.Queue]:
    """A queue with a title, and one without."""
    first, second = (leaseq.Queue(server.client, f"{queue_name[:50]}.{which}") for which in "ab")
    first.configure(title=f"Reviews {queue_name}")
    second.configure()
    return first, second


def test_a_title_that_looks_like_another_queues_is_saved_with_a_warning(
    boss: Browser, two_titles: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first, second = two_titles
    page = f"/manage/{second.name}/settings"
    title = first.policy.title.upper()
    boss.post(page, {"title": title, "was.title": ""})
    assert second.policy.title == title
    assert f"looks like that of {first.name}" in boss.get(f"/manage/{second.name}").text


def test_a_title_that_looks_like_several_others_is_warned_of_once(
    boss: Browser, two_titles: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first, second = two_titles
    second.configure(title=first.policy.title)
    name = second.name + "new"
    boss.post("/manage", {"name": name, "title": first.policy.title}, page="/manage")
    assert boss.get(f"/manage/{name}/settings").text.count("looks like that of") == 1


def test_a_new_queues_title_that_looks_like_another_is_warned_of(
    boss: Browser, two_titles: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first, second = two_titles
    name = second.name + "new"
    boss.post("/manage", {"name": name, "title": lookalike(first.policy.title)}, page="/manage")
    assert f"looks like that of {first.name}" in boss.get(f"/manage/{name}/settings").text


def test_the_command_line_warns_of_a_title_that_looks_like_another(
    server: Any, two_titles: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first, second = two_titles

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["queue", *words, "--redis", server.url])

    for title in (first.policy.title, first.policy.title.lower(), lookalike(first.policy.title)):
        result = run("set", second.name, "--title", title)
        assert result.exit_code == 0, result.stderr
        assert f"looks like that of queue {first.name!r}" in result.stderr
        assert second.policy.title == title
    first.configure(title="")
    for title in ("Something else", ""):
        assert "looks like" not in run("set", second.name, "--title", title).stderr
        assert second.policy.title == title


@pytest.mark.parametrize("title", ["Revi\u200bews", "\u202eReviews", "Reviews\u3164", "Rev\niews"])
def test_a_title_has_nothing_that_can_not_be_seen(
    two_titles: tuple[leaseq.Queue, leaseq.Queue], title: str
) -> None:
    queue = two_titles[1]
    with pytest.raises(Invalid) as refused:
        queue.configure(title=title)
    assert (refused.value.field, queue.policy.title) == ("title", "")


def test_a_title_is_kept_in_one_spelling(two_titles: tuple[leaseq.Queue, leaseq.Queue]) -> None:
    queue = two_titles[1]
    queue.configure(title=unicodedata.normalize("NFD", "Prüfung"))
    assert queue.policy.title == "Prüfung"
