"""``leaseq token``: API tokens."""

from __future__ import annotations

import getpass
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from leaseq import Invalid
from leaseq.cli.common import CommandFailed, connected, emit_json, emit_table, existing_queue, json_option
from leaseq.webapp.commands.user import BY, accounts_of
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.store.accounts.model import MAX_TOKEN_NAME

if TYPE_CHECKING:
    from leaseq import Client

SCOPES = ("read", "work", "enqueue", "ask", "manage", "admin")


@click.group()
def token() -> None:
    """API tokens: create, list, revoke."""


@token.command(epilog="Example: TOKEN=$(leaseq token create alice)")
@click.argument("name")
@click.option(
    "--for",
    "label",
    metavar="TEXT",
    help="A note on what it is used for. [default: who created it where, and when]",
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    help="What it may do, at most what NAME may do: read, work, only add items, work and manage, or "
    "everything. [default: everything that the role of NAME allows]",
)
@click.option("--queue", metavar="QUEUE", help="Limit it to this queue. [default: all queues]")
@click.option(
    "--expires",
    default="365",
    show_default=True,
    metavar="DAYS",
    help="How many days it is valid; `never`: until it is revoked.",
)
@connected
def create(
    client: Client, name: str, label: str | None, scope: str | None, queue: str | None, expires: str
) -> None:
    """Print a new token that acts as the person NAME. It is shown only once."""
    accounts = accounts_of(client)
    if accounts.find(name) is None:
        raise CommandFailed(
            f"there is no person named {name!r}: add them first with `leaseq user add {name}`"
        )
    days = _days(expires)
    queue_name = existing_queue(client, queue).name if queue is not None else None
    note = _origin() if label is None else label
    try:
        click.echo(accounts.create_token(name, note, by=BY, scope=scope, queue=queue_name, days=days))
    except Invalid as error:
        if error.field in _OF_PERSON:
            raise CommandFailed(str(error)) from None
        raise


_OF_PERSON = ("person", "tokens")
"""The fields of errors that are not usage errors: they depend on the person's account."""


def _origin() -> str:
    """The creator of a token, the place and the time, to tell tokens without a note apart."""
    place = f"{getpass.getuser()}@{socket.gethostname()}"
    text = f"{place[: MAX_TOKEN_NAME - 30]}, {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return "".join(character for character in text if character.isprintable())


def _days(expires: str) -> int | None:
    if expires == "never":
        return None
    days = whole_number(expires)
    if days is None:
        raise click.BadParameter("must be a number of days, or never", param_hint="'--expires'")
    return days


@token.command("list", epilog="Example: leaseq token list")
@json_option
@connected
def list_tokens(client: Client, as_json: bool) -> None:
    """List the valid tokens, without the tokens themselves."""
    tokens = accounts_of(client).tokens()
    if as_json:
        emit_json({"tokens": tokens, "after": None})
        return
    rows = [
        (
            entry.id,
            entry.person,
            entry.name,
            entry.scope,
            entry.queue or "",
            f"{entry.created_at:%Y-%m-%d}",
            f"{entry.expires_at:%Y-%m-%d}" if entry.expires_at else "never",
            f"{entry.used_at:%Y-%m-%d %H:%M} UTC" if entry.used_at else "never",
        )
        for entry in tokens
    ]
    emit_table(("id", "person", "for", "scope", "queue", "created", "expires", "last used"), rows)


@token.command(epilog="Example: leaseq token revoke 3f9a")
@click.argument("id")
@connected
def revoke(client: Client, id: str) -> None:
    """Revoke a token immediately. `leaseq token list` shows its id."""
    accounts = accounts_of(client)
    if all(token.id != id for token in accounts.tokens()):
        raise CommandFailed(f"there is no token {id!r}: `leaseq token list` shows the tokens")
    revoked_token = accounts.revoke_token(id, by=BY)
    click.echo(f"the token of {revoked_token.person} for {revoked_token.name} is revoked", err=True)
