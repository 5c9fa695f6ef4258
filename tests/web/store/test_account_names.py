"""Names and titles: one spelling, no invisible characters, and no lookalikes."""

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
from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.accounts.people import Record
from tests.support.refused import refused
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD, Browser, Caller
from tests.web.people.test_people import join


def lookalike_of(name: str) -> str:
    """The name with a Cyrillic letter for each a and e."""
    return name.replace("a", "\u0430").replace("e", "\u0435")


@pytest.fixture
def ann(accounts: Accounts, new_name: Callable[[str], str]) -> str:
    """A person who has an account."""
    name = "ann" + new_name("")
    accounts.add(name, by="test")
    return name


@pytest.mark.guard("looks-in-transaction", "looks-refused", "looks-taken")
def test_rest_refuses_lookalike_name(admin: Caller, accounts: Accounts, ann: str) -> None:
    for lookalike in (lookalike_of(ann), ann.upper()):
        response = admin("PUT", f"/people/{quote(lookalike)}", json={})
        assert (response.status_code, response.get_json()["field"]) == (400, "name"), lookalike
        assert ann in response.get_json()["detail"]
        assert accounts.find(lookalike) is None
    assert admin("PUT", f"/people/{ann}", json={}).status_code == 200


@pytest.mark.parametrize("character", ["\u200b", "\u202e", "\u3164", "\ufe0f", "\u2800"])
@pytest.mark.guard("visible-person")
def test_rest_refuses_name_with_invisible_character(admin: Caller, new_name: Any, character: str) -> None:
    response = admin("PUT", f"/people/{quote(new_name('eve') + character)}", json={})
    assert (response.status_code, response.get_json()["field"]) == (400, "name")


@pytest.mark.guard("looks-normal")
def test_name_is_stored_composed_and_found_in_any_form(
    admin: Caller, app: Flask, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    composed_name = new_name("zoë")
    decomposed_name = unicodedata.normalize("NFD", composed_name)
    assert admin("PUT", f"/people/{quote(decomposed_name)}", json={}).get_json()["name"] == composed_name
    assert (
        admin("PUT", f"/people/{quote(decomposed_name)}", json={"skills": ["fr"]}).get_json()["name"]
        == composed_name
    )
    assert [person.name for person in accounts.people()].count(composed_name) == 1
    accounts.set_password(decomposed_name, PASSWORD, by="test")
    browser = Browser(app, decomposed_name)
    assert browser.sign_in().status_code == 303
    assert composed_name in browser.get("/account").text


@pytest.mark.guard("looks-of-invited")
def test_signup_refuses_lookalike_name(app: Flask, accounts: Accounts, ann: str) -> None:
    link = f"/welcome?token={accounts.invite(by='test')}"
    for name in (lookalike_of(ann), ann.title(), ann + "\u3164"):
        _browser, response = join(app, link, name=name)
        assert response.status_code == 400, name
        assert accounts.find(name) is None
    assert join(app, link, name=ann + "-2")[1].status_code == 303


@pytest.mark.guard("looks-of-invitations")
def test_invitation_refuses_lookalike_name(
    accounts: Accounts, ann: str, new_name: Callable[[str], str]
) -> None:
    with refused("taken", what="similar"):
        accounts.invite(by="test", name=lookalike_of(ann))
    name = new_name("anna")
    accounts.invite(by="test", name=name)
    with refused("taken", what="similar"):
        accounts.invite(by="test", name=lookalike_of(name))


def test_command_line_refuses_lookalike_name(server: Any, accounts: Accounts, ann: str) -> None:
    arguments = ["user", "add", lookalike_of(ann), "--password-stdin", "--redis", server.url]
    result = CliRunner().invoke(main, arguments, input=PASSWORD + "\n")
    assert result.exit_code == 2
    assert "looks like" in result.stderr
    assert accounts.find(lookalike_of(ann)) is None


@pytest.mark.guard("looks-of-admin")
def test_setup_refuses_lookalike_name(server: Any, tmp_path: Any) -> None:
    from leaseq.server.embedded import EmbeddedServer

    with EmbeddedServer(tmp_path, fsync="no") as new_server:
        accounts = Accounts(leaseq.connect(new_server.url), passwords=CHEAP_PASSWORDS)
        accounts.add("ann", by="test")
        token = accounts.setup_token()
        assert token
        with refused("taken", what="similar"):
            accounts.set_up(token, lookalike_of("ann"), PASSWORD)
        assert accounts.set_up(token, "ann2", PASSWORD).role == "admin"


def test_sign_in_through_provider_refuses_lookalike_name(accounts: Accounts, ann: str) -> None:
    with refused("taken", what="similar"):
        accounts.authenticate_by_provider(lookalike_of(ann), "issuer somebody", create=True)


@pytest.mark.parametrize("base_name", ["ann\u0308", "ann\u3164", "ANN"])
def test_existing_account_with_invalid_name_signs_in(
    app: Flask, server: Any, accounts: Accounts, new_name: Callable[[str], str], base_name: str
) -> None:
    """A stored name that is decomposed, contains a filler, or looks like somebody else's."""
    name = new_name(base_name)
    accounts.add(new_name("other"), by="test")
    own_record = Record(name=name, role="worker", created=1.0, password=CHEAP_PASSWORDS.hash(PASSWORD, name))
    for record in (Record(name.lower(), "worker", 1.0), own_record):
        server.client.redis.hset(model.PEOPLE, record.name, record.dump())
    browser = Browser(app, name)
    assert browser.sign_in().status_code == 303
    assert browser.get("/account").status_code == 200


@pytest.fixture
def two_queues(server: Any, queue_name: str) -> tuple[leaseq.Queue, leaseq.Queue]:
    """A queue with a title, and one without."""
    first_queue, second_queue = (
        leaseq.Queue(server.client, f"{queue_name[:50]}.{letter}") for letter in "ab"
    )
    first_queue.configure(title=f"Reviews {queue_name}")
    second_queue.configure()
    return first_queue, second_queue


def test_lookalike_title_is_saved_with_warning(
    manager_browser: Browser, two_queues: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first_queue, second_queue = two_queues
    page = f"/manage/{second_queue.name}/settings"
    title = first_queue.policy.title.upper()
    manager_browser.post(page, {"title": title, "was.title": ""})
    assert second_queue.policy.title == title
    assert f"looks like that of {first_queue.name}" in manager_browser.get(page).text


def test_lookalike_of_several_titles_gets_one_warning(
    manager_browser: Browser, two_queues: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first_queue, second_queue = two_queues
    second_queue.configure(title=first_queue.policy.title)
    name = second_queue.name + "new"
    manager_browser.post("/manage", {"name": name, "title": first_queue.policy.title}, page="/manage")
    assert manager_browser.get(f"/manage/{name}/settings").text.count("looks like that of") == 1


def test_lookalike_title_of_new_queue_gets_warning(
    manager_browser: Browser, two_queues: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first_queue, second_queue = two_queues
    name = second_queue.name + "new"
    manager_browser.post(
        "/manage", {"name": name, "title": lookalike_of(first_queue.policy.title)}, page="/manage"
    )
    assert f"looks like that of {first_queue.name}" in manager_browser.get(f"/manage/{name}/settings").text


def test_command_line_warns_of_lookalike_title(
    server: Any, two_queues: tuple[leaseq.Queue, leaseq.Queue]
) -> None:
    first_queue, second_queue = two_queues

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["queue", *arguments, "--redis", server.url])

    for title in (
        first_queue.policy.title,
        first_queue.policy.title.lower(),
        lookalike_of(first_queue.policy.title),
    ):
        result = run("set", second_queue.name, "--title", title)
        assert result.exit_code == 0, result.stderr
        assert f"looks like that of queue {first_queue.name!r}" in result.stderr
        assert second_queue.policy.title == title
    first_queue.configure(title="")
    for title in ("Something else", ""):
        assert "looks like" not in run("set", second_queue.name, "--title", title).stderr
        assert second_queue.policy.title == title


@pytest.mark.parametrize("title", ["Revi\u200bews", "\u202eReviews", "Reviews\u3164", "Rev\niews"])
@pytest.mark.guard("visible-name")
def test_queue_title_with_invisible_character_is_refused(
    two_queues: tuple[leaseq.Queue, leaseq.Queue], title: str
) -> None:
    queue = two_queues[1]
    with pytest.raises(Invalid) as error:
        queue.configure(title=title)
    assert (error.value.field, queue.policy.title) == ("title", "")


def test_queue_title_is_stored_in_composed_form(two_queues: tuple[leaseq.Queue, leaseq.Queue]) -> None:
    queue = two_queues[1]
    queue.configure(title=unicodedata.normalize("NFD", "Prüfung"))
    assert queue.policy.title == "Prüfung"
