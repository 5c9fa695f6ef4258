"""``leaseq user``: people and their passwords."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING

import click

from leaseq import Invalid
from leaseq.cli.common import CommandFailed, connected, emit_json, emit_table, json_option

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.webapp.store.accounts import Accounts

BY = "the command line"
"""The author of a change, as the log shows it."""

ROLES = ("worker", "manager", "admin")

password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input instead of asking for it."
)


def accounts_of(client: Client) -> Accounts:
    from leaseq.webapp.store.accounts import Accounts

    return Accounts(client)


@click.group()
def user() -> None:
    """Add, list, disable and enable people, set passwords."""


@user.command(epilog="Example: leaseq user add alice --role manager")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="worker", show_default=True)
@click.option(
    "--skill", "skills", multiple=True, metavar="SKILL", help="A skill that they have; may be repeated."
)
@click.option("--team", default="", help="The team that they are in.")
@password_option
@connected
def add(
    client: Client, name: str, role: str, skills: tuple[str, ...], team: str, password_stdin: bool
) -> None:
    """Add a person who can sign in."""
    accounts = accounts_of(client)
    if accounts.find(name) is not None:
        raise CommandFailed(f"there is already a person named {name!r}")
    password = _password(password_stdin)
    person = accounts.add(name, by=BY, role=role, skills=skills, team=team, password=password)
    click.echo(f"{person.name} can sign in as {role}", err=True)


@user.command("list", epilog="Example: leaseq user list")
@json_option
@connected
def list_people(client: Client, as_json: bool) -> None:
    """List all people."""
    people = accounts_of(client).people()
    if as_json:
        entries = [
            {
                "name": person.name,
                "role": person.role,
                "skills": list(person.skills),
                "shown_name": person.shown_name,
                "team": person.team,
                "disabled": person.disabled,
                "has_password": person.has_password,
                "created_at": person.created_at,
            }
            for person in people
        ]
        emit_json({"people": entries, "after": None})
        return
    rows = [
        (
            person.name,
            person.role,
            " ".join(person.skills),
            person.team,
            person.shown_name,
            "disabled" if person.disabled else "",
        )
        for person in people
    ]
    emit_table(("name", "role", "skills", "team", "shown as", ""), rows)


@user.command(epilog="Example: leaseq user rename alice 'Alice Miller'")
@click.argument("name")
@click.argument("shown_name")
@connected
def rename(client: Client, name: str, shown_name: str) -> None:
    """Let pages call the person NAME by SHOWN_NAME; '' ends that. They still sign in as NAME, which items and
    answers keep."""
    try:
        person = accounts_of(client).change(name, by=BY, shown_name=shown_name)
    except Invalid as error:
        raise CommandFailed(str(error)) from None
    click.echo(f"pages call {person.name} {person.label}", err=True)


@user.command("rename-team", epilog="Example: leaseq user rename-team Refunds Returns")
@click.argument("team")
@click.argument("to")
@connected
def rename_team(client: Client, team: str, to: str) -> None:
    """Rename TEAM to TO: of its people, of those who are invited to it, and in the access to queues."""
    from leaseq.webapp.services.people import rename_team_of
    from leaseq.webapp.store.queue_access import QueueAccess

    try:
        count = rename_team_of(accounts_of(client), QueueAccess(client), team, to, by=BY)
    except Invalid as error:
        raise CommandFailed(str(error)) from None
    click.echo(f"people in {to}: {count}", err=True)


@user.command(epilog="Example: leaseq user passwd alice")
@click.argument("name")
@password_option
@click.option("--revoke-tokens", is_flag=True, help="Revoke their API tokens as well.")
@connected
def passwd(client: Client, name: str, password_stdin: bool, revoke_tokens: bool) -> None:
    """Set a person's password and sign them out everywhere."""
    accounts = accounts_of(client)
    accounts.get(name)
    accounts.set_password(name, _password(password_stdin), by=BY)
    click.echo(f"the password of {name} is set", err=True)
    if revoke_tokens:
        click.echo(f"API tokens revoked: {accounts.revoke_tokens(name, by=BY)}", err=True)


@user.command(epilog="Example: leaseq user disable alice")
@click.argument("name")
@connected
def disable(client: Client, name: str) -> None:
    """Disable a person: their sessions end, their tokens stop working, and anybody may have what they held
    and what was assigned to them."""
    from leaseq.webapp.services.people import change_person
    from leaseq.webapp.store.queue_access import QueueAccess

    accounts = accounts_of(client)
    try:
        changed = change_person(client, accounts, QueueAccess(client), name, by=BY, disabled=True)
    except Invalid as error:
        raise CommandFailed(str(error)) from None
    click.echo(f"{name} is disabled", err=True)
    if changed.unassigned:
        click.echo(f"items that were assigned to them, for anybody now: {changed.unassigned}", err=True)


@user.command(epilog="Example: leaseq user enable alice")
@click.argument("name")
@connected
def enable(client: Client, name: str) -> None:
    """Enable a disabled person: they can sign in again, and their tokens that have not expired work again."""
    accounts = accounts_of(client)
    accounts.get(name)
    accounts.change(name, by=BY, disabled=False)
    click.echo(f"{name} is enabled", err=True)


def _password(from_stdin: bool) -> str:
    """The password: a line of standard input, or entered twice on the terminal without being shown."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask for the password: use --password-stdin.")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Repeat password: ") != password:
        raise CommandFailed("the two passwords differ: nothing was changed")
    return password
