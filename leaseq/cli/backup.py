"""``leaseq backup`` and ``leaseq restore``."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from leaseq import transfer
from leaseq.cli.common import connected, emit_json, json_option
from leaseq.cli.transfers import open_input

if TYPE_CHECKING:
    from collections import Counter

    from leaseq import Client


@click.command(epilog="Example: leaseq backup --to leaseq.backup")
@click.option(
    "--to",
    "file",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The file to write; '-' is standard output.",
)
@json_option
@connected
def backup(client: Client, file: str, as_json: bool) -> None:
    """Write all queues with their items and answers, people, tokens and threads to a file.

    Work can go on during the backup. FILE appears when it is complete, and only you may read it: it contains
    password hashes and the secrets of webhooks. `leaseq restore` reads it.
    """
    from leaseq.backup import back_up

    if file == "-" and as_json:
        raise click.UsageError("--json prints to standard output, and so does --to -: use one of them.")
    with _output(file) as stream:
        contents = back_up(client, stream)
        stream.flush()
    queues, items = len(contents.queues), contents.items
    if as_json:
        emit_json({"queues": queues, "items": items, **_entries(contents.entries)})
    else:
        click.echo(f"written: {_counts(queues, items, contents.entries)}", err=True)


@click.command(epilog="Example: leaseq restore leaseq.backup")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@json_option
@connected
def restore(client: Client, file: str, as_json: bool) -> None:
    """Restore a backup into a server that has none of its queues, and no people.

    '-' reads standard input. The whole file is checked before anything is written. If a restore is
    interrupted, run the same command again to continue it.
    """
    from leaseq.backup import restore as restore_backup

    with open_input(file) as stream:
        result = restore_backup(client, stream)
    if as_json:
        emit_json(
            {"queues": result.queues, "items": result.items, "held": result.held, **_entries(result.entries)}
        )
        return
    click.echo(
        f"restored: {_counts(result.queues, result.items, result.entries)}, leases held: {result.held:,}"
    )


def _counts(queues: int, items: int, entries: Counter[str]) -> str:
    others = "".join(f", {name}: {count:,}" for name, count in sorted(entries.items()))
    return f"queues: {queues:,}, items: {items:,}{others}"


def _entries(entries: Counter[str]) -> dict[str, int]:
    return {name.replace(" ", "_"): count for name, count in sorted(entries.items())}


def _output(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdout.buffer) if file == "-" else transfer.whole_file(Path(file), private=True)
