"""``leaseq clear``: run the clear job once, for a timer, or as a process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from leaseq.cli.common import (
    CommandFailed,
    connected,
    emit_json,
    json_option,
    named_or_all,
    stopped_by_signals,
)

if TYPE_CHECKING:
    from leaseq import Cleared, Client, Queue, QueueUnreadable


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
    """Return items whose lease expired, release items that are due, and raise
    or resolve the queue's alerts.

    It deletes only finished and dead items that the queue's policy
    no longer keeps. Several may run at the same time.
    """
    if names and every_queue:
        raise click.UsageError("expected the names of queues or --all, got both: leave out one of them.")
    if not names and not every_queue:
        raise click.UsageError("expected the names of queues or --all, got neither: add one of them.")
    if every is None:
        _clear_once(client, names, as_json)
        return
    with stopped_by_signals() as stop:
        _clear_repeatedly(client, names, every, as_json, stop)


def _clear_once(client: Client, names: tuple[str, ...], as_json: bool) -> None:
    from leaseq import QueueUnreadable

    outcomes = dict(_round(client, names))
    cleared = {
        name: _counts(outcome)
        for name, outcome in outcomes.items()
        if not isinstance(outcome, QueueUnreadable)
    }
    if as_json:
        emit_json({"queues": [{"name": name, **counts} for name, counts in cleared.items()]})
    else:
        for name, counts in cleared.items():
            click.echo(_line(name, counts))
    if messages := [
        _left_out_message(name, outcome)
        for name, outcome in outcomes.items()
        if isinstance(outcome, QueueUnreadable)
    ]:
        raise CommandFailed("; ".join(messages))


def _round(
    client: Client, names: tuple[str, ...], stop: threading.Event | None = None
) -> Iterator[tuple[str, Cleared | QueueUnreadable]]:
    """Clear each queue until nothing is left to clear, even if another queue can't be read."""
    from leaseq import Queue, QueueUnreadable

    for name in named_or_all(client, names):
        try:
            outcome: Cleared | QueueUnreadable = _clear(Queue(client, name), stop)
        except QueueUnreadable as error:
            outcome = error
        yield name, outcome


def _clear(queue: Queue, stop: threading.Event | None) -> Cleared:
    from leaseq import Cleared

    total = Cleared(0, 0, 0, more=True)
    while total.more and not (stop and stop.is_set()):
        cleared = queue.clear()
        total = Cleared(
            total.returned + cleared.returned,
            total.released + cleared.released,
            total.died + cleared.died,
            cleared.more,
            total.forgotten + cleared.forgotten,
        )
    return total


def _clear_repeatedly(
    client: Client, names: tuple[str, ...], every: float, as_json: bool, stop: threading.Event
) -> None:
    from leaseq import QueueUnreadable, ServerRefused, ServerUnavailable

    is_unavailable = False
    left_out_names: set[str] = set()  # already reported
    while not stop.is_set():
        try:
            for name, outcome in _round(client, names, stop):
                if not isinstance(outcome, QueueUnreadable):
                    left_out_names.discard(name)
                    _print(name, _counts(outcome), as_json)
                elif name not in left_out_names:
                    left_out_names.add(name)
                    click.echo(f"leaseq: {_left_out_message(name, outcome)}", err=True)
            if is_unavailable:
                click.echo("leaseq: the server is back", err=True)
            is_unavailable = False
        except (ServerUnavailable, ServerRefused) as error:
            if not is_unavailable:
                reason = " ".join(str(error).split())
                click.echo(f"leaseq: {reason}; trying again every {every:g} s", err=True)
            is_unavailable = True
        stop.wait(every)


def _left_out_message(name: str, error: QueueUnreadable) -> str:
    return f"queue {name!r} was left out: {error}"


def _print(name: str, counts: Mapping[str, int], as_json: bool) -> None:
    """Print what was changed, if anything was."""
    if not any(counts.values()):
        return
    if as_json:
        emit_json({"name": name, **counts}, indent=None)
    else:
        click.echo(_line(name, counts))


def _line(name: str, counts: Mapping[str, int]) -> str:
    shown = (f"{count:,} {word}" for word, count in counts.items() if count or word != "forgotten")
    return f"{name}: {', '.join(shown)}"


def _counts(cleared: Cleared) -> dict[str, int]:
    return {name: count for name, count in asdict(cleared).items() if name != "more"}
