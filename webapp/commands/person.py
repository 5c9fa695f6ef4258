"""``leaseq person``: exports and erases the data of a person."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from leaseq.cli.common import CommandFailed, confirm, connected, count, emit_json, json_option, yes_option
from leaseq.webapp.commands.user import BY, accounts_of

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.webapp.services.people import ErasedPerson


@click.group()
def person() -> None:
    """Export and erase the data of a person."""


@person.command(epilog="Example: leaseq person export bob --to bob.json")
@click.argument("name")
@click.option(
    "--to", "path", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead."
)
@connected
def export(client: Client, name: str, path: Path | None) -> None:
    """Write everything stored about the person NAME to standard output, as one JSON document.

    It contains the account, tokens and invitations without their secrets, log entries, figures, messages, and
    for each item what they had, answered or typed. It does not contain the events of the queues' journals,
    but how far back each journal goes.
    """
    from leaseq.webapp.store.person_data import person_document

    accounts = accounts_of(client)
    if accounts.find(name) is None:
        click.echo(f"there is no account {name!r}: this is what is stored under the name", err=True)
    with _output(path) as file:
        for piece in person_document(client, accounts, name):
            click.echo(piece, nl=False, file=file)


def _output(path: Path | None) -> nullcontext[IO[str] | None] | IO[str]:
    """The file, which only this user may read; None for standard output."""
    if path is None:
        return nullcontext(None)
    opener = lambda file, flags: os.open(file, flags, 0o600)  # noqa: E731
    return open(path, "w", encoding="utf-8", opener=opener)


@person.command(epilog="Example: leaseq person erase bob")
@click.argument("name")
@yes_option
@json_option
@connected
def erase(client: Client, name: str, yes: bool, as_json: bool) -> None:
    """Erase the person NAME. Shows what will be erased; on a terminal, asks first.

    The account, all that lets them sign in, and their drafts are deleted. Leases that they hold end, and a
    random name replaces theirs in items, threads and the managers' log, so that answers and counts stay
    right. The same command finishes an interrupted erasure.
    """
    from leaseq.webapp.services.people import erase_person

    accounts = accounts_of(client)
    erasure = accounts.erasures.find(name)
    if erasure is None:
        account = accounts.find(name)
        name = account.name if account else name
        click.echo(_plan_text(client, name, account is not None), err=True)
        confirm(yes, f"Erase {name!r}?")
    result = erase_person(client, accounts, name, by=BY)
    if as_json:
        emit_json({**asdict(result), "items": result.items, "leases": result.leases})
    else:
        _print_result(result)


def _plan_text(client: Client, name: str, has_account: bool) -> str:
    from leaseq import Queue, read_queues
    from leaseq.webapp.store.person_data import of_people

    def read_counts(queue: Queue) -> tuple[int, int]:
        return sum(1 for _ in queue.person_items(name)), len(queue.mine(name))

    counts, _ = read_queues(client, read_counts, of_people(client))
    item_counts = {queue: number for queue, (number, _) in counts.items() if number}
    lease_count = sum(number for _, number in counts.values())
    if not has_account and not item_counts:
        raise CommandFailed(f"there is no account {name!r}, and no item that names them: nothing is erased")
    account = "the account, with all that lets them sign in" if has_account else "no account"
    items = (f"{count(number, 'item', 'items')} of {queue!r}" for queue, number in item_counts.items())
    places = ", ".join(items) or "no item"
    leases = count(lease_count, "lease", "leases")
    return (
        f"{account}; {leases} that they hold, and their drafts. Another name takes the place of "
        f"theirs in {places}, in threads and in the managers' log. What they wrote in answers and notes "
        "stays, and so do copies in SQL databases and at receivers of webhooks."
    )


def _print_result(result: ErasedPerson) -> None:
    leases, items = count(result.leases, "lease", "leases"), count(result.items, "item", "items")
    click.echo(f"{result.name!r} is erased: {leases} ended, {items} changed")
    click.echo(f"the name in their place is {result.pseudonym}; it is stored nowhere else")
    queues = [queue for queue in result.queues if queue.journal_since]
    if queues:
        click.echo(
            "journals keep the name until they are trimmed (docs: The data of a person); they go back to:"
        )
    for queue in queues:
        click.echo(f"  {queue.queue}  {queue.journal_since:%Y-%m-%d %H:%M} UTC")
