"""leaseq user and leaseq token."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import leaseq
from leaseq.cli import main
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.commands.token import SCOPES as TOKEN_COMMAND_SCOPES
from leaseq.webapp.services import people
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import SCOPES
from tests.support.leases import not_none


@pytest.fixture
def run(server: Any) -> Callable[..., Result]:
    def invoke(*arguments: str, input: str | None = None) -> Result:
        return CliRunner().invoke(main, [*arguments, "--redis", server.url], input=input)

    return invoke


def test_user_commands_add_list_change_and_disable_person(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("by command")
    add_result = run(
        "user", "add", name, "--role", "manager", "--skill", "fr", "--skill", "de", "--password-stdin",
        input="correct horse battery\n",
    )  # fmt: skip
    assert (add_result.exit_code, add_result.stdout) == (0, "")
    person = accounts.verify(name, "correct horse battery")
    assert person
    assert (person.role, person.skills) == ("manager", ("de", "fr"))
    list_result = run("user", "list", "--json")
    assert {entry["name"]: entry["role"] for entry in json.loads(list_result.stdout)["people"]}[
        name
    ] == "manager"
    assert name in run("user", "list").stdout
    assert run("user", "passwd", name, "--password-stdin", input="another long one").exit_code == 0
    run("token", "create", name)
    passwd_result = run(
        "user", "passwd", name, "--password-stdin", "--revoke-tokens", input="a third long one"
    )
    assert "API tokens revoked: 1" in passwd_result.output
    assert run("user", "passwd", name, "--password-stdin", input="another long one").exit_code == 0
    assert accounts.verify(name, "another long one")
    assert run("user", "disable", name).exit_code == 0
    assert accounts.verify(name, "another long one") is None
    assert run("user", "enable", name).exit_code == 0
    assert accounts.verify(name, "another long one")


def test_user_and_token_commands_refuse_bad_arguments(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("refused")
    short_result = run("user", "add", name, "--password-stdin", input="short\n")
    assert (short_result.exit_code, accounts.find(name)) == (2, None)
    assert "10 to 128 characters" in short_result.stderr
    assert run("user", "add", name, "--role", "boss").exit_code == 2
    assert run("user", "add", name, input="").exit_code == 2
    for command in (
        ("user", "passwd", name, "--password-stdin"),
        ("user", "disable", name),
        ("token", "create", name),
    ):
        result = run(*command, input="correct horse battery\n")
        assert (result.exit_code, "no person named" in result.stderr) == (1, True)
    accounts.add(name, by="test")
    second_result = run("user", "add", name, "--password-stdin", input="correct horse battery\n")
    assert (second_result.exit_code, "already" in second_result.stderr) == (1, True)
    assert run("token", "revoke", "nonesuch").exit_code == 1


def test_user_disable_refuses_the_only_admin_and_does_not_call_it_misuse(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, fsync="no") as server:
        accounts = Accounts(leaseq.connect(server.url))
        accounts.add("ann", by="test", role="admin", password="correct horse battery")
        result = CliRunner().invoke(main, ["user", "disable", "ann", "--redis", server.url])
        assert (result.exit_code, "only admin" in result.stderr) == (1, True)
        assert accounts.verify("ann", "correct horse battery")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--queue", "reviewz"], 1, "there is no queue 'reviewz'; did you mean reviews-of-tokens?"),
        (["--queue", ""], 2, "queue: expected 1 to 64 characters"),
        (["--queue", "Reviews"], 2, "queue: expected 1 to 64 characters"),
        (["--expires", "0"], 2, "expires: expected a whole number from 1 to 3,650"),
        (["--expires", "9999"], 2, "expires: expected a whole number from 1 to 3,650"),
        (["--expires", "soon"], 2, "must be a number of days, or never"),
        (["--scope", "admin"], 2, "scope: expected at most work"),
        (["--for", ""], 2, "token_name: expected 1 to 100 printable characters"),
    ],
)
def test_token_create_refuses_invalid_options(
    run: Callable[..., Result],
    server: Any,
    accounts: Accounts,
    new_name: Callable[[str], str],
    options: list[str],
    code: int,
    message: str,
) -> None:
    accounts.add(name := new_name("no token"), by="test", role="worker")
    queue = leaseq.Queue(server.client, "reviews-of-tokens")
    queue.configure()
    result = run("token", "create", name, *options)
    queue.delete()
    assert (result.exit_code, result.stdout, accounts.tokens(name)) == (code, "", [])
    assert message in result.stderr


def test_token_is_printed_once_listed_without_secret_and_revoked(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str], server: Any
) -> None:
    name = new_name("with token")
    accounts.add(name, by="test")
    result = run("token", "create", name)
    assert result.exit_code == 0
    token = result.stdout.removesuffix("\n")
    assert not_none(accounts.callers.find(token)).person.name == name
    (stored_token,) = accounts.tokens(name)
    list_result = run("token", "list")
    assert stored_token.id in list_result.stdout
    assert token not in list_result.stdout
    assert {entry["id"] for entry in json.loads(run("token", "list", "--json").stdout)["tokens"]} >= {
        stored_token.id
    }
    assert run("token", "revoke", stored_token.id).exit_code == 0
    assert Accounts(server.client).callers.find(token) is None


def test_tokens_without_note_have_names_of_their_own(
    run: Callable[..., Result],
    accounts: Accounts,
    new_name: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = new_name("many tokens")
    accounts.add(name, by="test")
    assert run("token", "create", name).exit_code == 0
    monkeypatch.setattr("socket.gethostname", lambda: "x" * 300)
    assert run("token", "create", name).exit_code == 0
    assert run("token", "create", name, "--for", "nightly").exit_code == 0
    names = [one.name for one in accounts.tokens(name)]
    assert len(set(names)) == 3
    assert "nightly" in names


def test_scopes_of_the_command_are_all_there_are() -> None:
    assert TOKEN_COMMAND_SCOPES == SCOPES


def test_token_create_refuses_disabled_person(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("gone")
    accounts.add(name, by="test")
    assert run("user", "disable", name).exit_code == 0
    result = run("token", "create", name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert name in result.stderr
    assert "enable them" in result.stderr
    assert accounts.tokens(name) == []


def test_unavailable_server_is_reported_in_one_line() -> None:
    result = CliRunner().invoke(main, ["user", "list", "--redis", "redis://127.0.0.1:1"])
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1


def test_disabling_frees_what_was_assigned_and_says_how_many(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str], queue: leaseq.Queue
) -> None:
    name = new_name("assigned")
    accounts.add(name, by="test")
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ("one", "two"))
    for id in ("one", "two"):
        queue.assign(id, name)
    result = run("user", "disable", name)
    assert "2" in result.stderr.removeprefix(f"{name} is disabled")
    assert [queue.get(id).assigned_to for id in ("one", "two")] == [(), ()]


def test_user_commands_rename_person_and_team(
    run: Callable[..., Result],
    accounts: Accounts,
    new_name: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(people, "SETTLE_SECONDS", 0)  # no web process runs
    name = new_name("by command")
    accounts.add(name, by="test", team=f"old {name}")
    assert run("user", "rename", name, f"Shown {name}").exit_code == 0
    assert run("user", "rename-team", f"old {name}", f"new {name}").exit_code == 0
    listed = json.loads(run("user", "list", "--json").stdout)["people"]
    assert [(entry["shown_name"], entry["team"]) for entry in listed if entry["name"] == name] == [
        (f"Shown {name}", f"new {name}")
    ]
    assert run("user", "rename", name, "\x00").exit_code == 1
    assert run("user", "rename-team", f"old {name}", "x").exit_code == 1
