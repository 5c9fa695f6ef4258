"""leaseq user and leaseq token."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

import leaseq
from leaseq.cli import main
from leaseq.webapp.store.accounts import Accounts
from tests.support.taking import not_none


@pytest.fixture
def run(server: Any) -> Callable[..., Result]:
    def command(*words: str, input: str | None = None) -> Result:
        return CliRunner().invoke(main, [*words, "--redis", server.url], input=input)

    return command


def test_a_person_from_the_command_line(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("by command")
    added = run(
        "user", "add", name, "--role", "manager", "--skill", "fr", "--skill", "de", "--password-stdin",
        input="correct horse battery\n",
    )  # fmt: skip
    assert (added.exit_code, added.stdout) == (0, "")
    person = accounts.verify(name, "correct horse battery")
    assert person
    assert (person.role, person.skills) == ("manager", ("de", "fr"))
    listed = run("user", "list", "--json")
    assert {one["name"]: one["role"] for one in json.loads(listed.stdout)}[name] == "manager"
    assert name in run("user", "list").stdout
    assert run("user", "passwd", name, "--password-stdin", input="another long one").exit_code == 0
    run("token", "create", name)
    revoked = run("user", "passwd", name, "--password-stdin", "--revoke-tokens", input="a third long one")
    assert "API tokens revoked: 1" in revoked.output
    assert run("user", "passwd", name, "--password-stdin", input="another long one").exit_code == 0
    assert accounts.verify(name, "another long one")
    assert run("user", "disable", name).exit_code == 0
    assert accounts.verify(name, "another long one") is None


def test_what_is_refused(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("refused")
    short = run("user", "add", name, "--password-stdin", input="short\n")
    assert (short.exit_code, accounts.find(name)) == (2, None)
    assert "10 to 128 characters" in short.stderr
    assert run("user", "add", name, "--role", "boss").exit_code == 2
    assert run("user", "add", name, input="").exit_code == 2
    for words in (
        ("user", "passwd", name, "--password-stdin"),
        ("user", "disable", name),
        ("token", "create", name),
    ):
        result = run(*words, input="correct horse battery\n")
        assert (result.exit_code, "no person named" in result.stderr) == (1, True)
    accounts.add(name, by="test")
    again = run("user", "add", name, "--password-stdin", input="correct horse battery\n")
    assert (again.exit_code, "already" in again.stderr) == (1, True)
    assert run("token", "revoke", "nonesuch").exit_code == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--queue", "reviewz"], 1, "there is no queue 'reviewz'; did you mean reviews-of-tokens?"),
        (["--queue", ""], 2, "queue: 1 to 64 characters"),
        (["--queue", "Reviews"], 2, "queue: 1 to 64 characters"),
        (["--expires", "0"], 2, "expires: a whole number from 1 to 3,650"),
        (["--expires", "9999"], 2, "expires: a whole number from 1 to 3,650"),
        (["--expires", "soon"], 2, "must be a number of days, or never"),
        (["--scope", "admin"], 2, "scope: at most work"),
        (["--for", ""], 2, "token_name: 1 to 100 printable characters"),
    ],
)
def test_a_token_that_can_not_be(
    run: Callable[..., Result],
    server: Any,
    accounts: Accounts,
    new_name: Callable[[str], str],
    words: list[str],
    code: int,
    said: str,
) -> None:
    accounts.add(name := new_name("no token"), by="test", role="worker")
    queue = leaseq.Queue(server.client, "reviews-of-tokens")
    queue.configure()
    refused = run("token", "create", name, *words)
    queue.delete()
    assert (refused.exit_code, refused.stdout, accounts.tokens(name)) == (code, "", [])
    assert said in refused.stderr


def test_a_token_alone_on_standard_output(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str], server: Any
) -> None:
    name = new_name("with token")
    accounts.add(name, by="test")
    made = run("token", "create", name)
    assert made.exit_code == 0
    token = made.stdout.removesuffix("\n")
    assert not_none(accounts.caller(token)).person.name == name
    (known,) = accounts.tokens(name)
    listed = run("token", "list")
    assert known.id in listed.stdout
    assert token not in listed.stdout
    assert {one["id"] for one in json.loads(run("token", "list", "--json").stdout)} >= {known.id}
    assert run("token", "revoke", known.id).exit_code == 0
    assert Accounts(server.client).caller(token) is None


def test_no_token_for_who_is_disabled(
    run: Callable[..., Result], accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("gone")
    accounts.add(name, by="test")
    assert run("user", "disable", name).exit_code == 0
    made = run("token", "create", name)
    assert (made.exit_code, made.stdout) == (1, "")
    assert f"{name!r} is disabled" in made.stderr
    assert "enable them" in made.stderr
    assert accounts.tokens(name) == []


def test_a_server_that_is_away_is_one_line() -> None:
    result = CliRunner().invoke(main, ["user", "list", "--redis", "redis://127.0.0.1:1"])
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
