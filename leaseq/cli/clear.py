"""``leaseq clear``: run the clear job once, for a timer, or as a process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from leaseq.cli.common import connected, emit_json, json_option, named_or_all
from leaseq.cli.signals import stopped_by_signals

if TYPE_CHECKING:
    from leaseq import Cleared, Client


@click.command(epilog="Example: leaseq clear --all --every 1")
@click.argument("names", nargs=-1, metavar="[QUEUE]...")
@click.option(
    "--all", "every_queue", is_flag=True, help="Every queue; with --every, also those created later."
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.05, max=86_400),
    metavar="SECONDS",
    help="Repeat at this interval until SIGTERM or Ctrl-C.",
)
@json_option
@connected
def clear(
    client: Client, names: tuple[str, ...], every_queue: bool, every: float | None, as_json: bool
) -> None:
    """Return items whose lease expired, and release items that are due.

    It deletes only finished items that are older than the queue's
    keep_finished_seconds. Several may run at once.
    """
    if bool(names) == every_queue:
        raise click.UsageError("name the queues to clear, or add --all.")
    if every is None:
        cleared = dict(_round(client, names))
        if as_json:
            emit_json({"queues": [{"name": name, **_counts(found)} for name, found in cleared.items()]})
        else:
            for name, found in cleared.items():
                click.echo(_line(name, found))
        return
    with stopped_by_signals() as stop:
        _go_on(client, names, every, as_json, stop)


def _round(
    client: Client, names: tuple[str, ...], stop: threading.Event | None = None
) -> Iterator[tuple[str, Cleared]]:
    """Clear each queue until nothing is left to clear."""
    from leaseq import Cleared, Queue

    for name in named_or_all(client, names):
        total = Cleared(0, 0, 0, more=True)
        while total.more and not (stop and stop.is_set()):
            found = Queue(client, name).clear()
            total = Cleared(
                total.returned + found.returned,
                total.released + found.released,
                total.died + found.died,
                found.more,
                total.forgotten + found.forgotten,
            )
        yield name, total


def _go_on(
    client: Client, names: tuple[str, ...], every: float, as_json: bool, stop: threading.Event
) -> None:
    from leaseq import ServerRefused, ServerUnavailable

    away = False
    while not stop.is_set():
        try:
            for name, found in _round(client, names, stop):
                if any(_counts(found).values()):
                    _tell(name, found, as_json)
            if away:
                click.echo("leaseq: the server is back", err=True)
            away = False
        except (ServerUnavailable, ServerRefused) as error:
            if not away:
                reason = " ".join(str(error).split())
                click.echo(f"leaseq: {reason}; trying again every {every:g} s", err=True)
            away = True
        stop.wait(every)


def _tell(name: str, found: Cleared, as_json: bool) -> None:
    if as_json:
        emit_json({"name": name, **_counts(found)}, indent=None)
    else:
        click.echo(_line(name, found))


def _line(name: str, found: Cleared) -> str:
    forgotten = f", {found.forgotten:,} forgotten" if found.forgotten else ""
    return f"{name}: {found.returned:,} returned, {found.released:,} released, {found.died:,} died{forgotten}"


def _counts(found: Cleared) -> dict[str, int]:
    return {
        "returned": found.returned,
        "released": found.released,
        "died": found.died,
        "forgotten": found.forgotten,
    }
