"""``leaseq stats``: show a queue's counts, once or live."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from leaseq.cli.common import (
    UNREADABLE_NOTE,
    connected,
    emit_json,
    emit_table,
    json_option,
    named_or_all,
    unreadable_shape,
)

if TYPE_CHECKING:
    from rich.table import Table

    from leaseq import Client, QueueUnreadable, Stats

COLUMNS = ("inbound", "reserved", "scheduled", "finished", "dead", "oldest_inbound_seconds")
HEADINGS = ("queue", *COLUMNS[:5], "oldest item", "unreachable", "paused", "alerts")

StatsAndErrors = tuple[Mapping[str, "Stats"], Mapping[str, "QueueUnreadable"]]


@click.command(epilog="Example: leaseq stats reviews --watch")
@click.argument("names", nargs=-1, metavar="[QUEUE]...")
@click.option("--watch", is_flag=True, help="Update until Ctrl-C.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1, max=3_600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="With --watch: the interval between updates.",
)
@json_option
@connected
def stats(client: Client, names: tuple[str, ...], watch: bool, every: float, as_json: bool) -> None:
    """Show how many items are in each state, for the queues named or for all."""
    if not watch:
        _print(_count(client, names), as_json)
        return
    try:
        if as_json or not sys.stdout.isatty():
            _print_repeatedly(client, names, every, as_json)
        else:
            _watch(client, names, every)
    except KeyboardInterrupt:
        click.echo()  # the usual way to end it, not a failure


def counts(stats: Stats) -> dict[str, Any]:
    """The JSON shape of a queue's stats."""
    return {**asdict(stats), "counters": dict(stats.counters)}


def _count(client: Client, names: tuple[str, ...]) -> StatsAndErrors:
    """The stats of these queues, or of all. A named queue that can't be read is an error."""
    from leaseq import Queue, read_queues

    stats, errors = read_queues(client, Queue.stats, named_or_all(client, names))
    for name in names:
        if name in errors:
            raise errors[name]
    return stats, errors


def _print(stats: StatsAndErrors, as_json: bool, *, indent: int | None = 2) -> None:
    if as_json:
        by_queue, errors = stats
        rows = [{"name": name, **counts(stats)} for name, stats in by_queue.items()]
        shape = {"queues": rows, "unreadable": unreadable_shape(errors), "after": None}
        emit_json(shape, indent=indent)
    else:
        emit_table(HEADINGS, _rows(stats))


def _print_repeatedly(client: Client, names: tuple[str, ...], every: float, as_json: bool) -> None:
    while True:
        _print(_count(client, names), as_json, indent=None)
        sys.stdout.flush()
        time.sleep(every)


def _watch(client: Client, names: tuple[str, ...], every: float) -> None:
    from rich.live import Live

    with Live(_table(_count(client, names)), auto_refresh=False) as live:
        while True:
            time.sleep(every)
            live.update(_table(_count(client, names)), refresh=True)


def _table(stats: StatsAndErrors) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "queue" else "right")
    for row in _rows(stats):
        table.add_row(*map(Text, row))
    return table


def _rows(stats: StatsAndErrors) -> list[tuple[str, ...]]:
    by_queue, errors = stats
    rows = [
        (
            name,
            *(f"{getattr(queue_stats, column):,}" for column in COLUMNS[:5]),
            _duration(queue_stats.oldest_inbound_seconds),
            "-" if queue_stats.unreachable is None else f"{queue_stats.unreachable:,}",
            "" if queue_stats.paused is None else queue_stats.paused or "yes",
            alerts_text(queue_stats),
        )
        for name, queue_stats in by_queue.items()
    ]
    unreadable_rows = [(name, *("-" for _ in COLUMNS), "-", UNREADABLE_NOTE, "") for name in errors]
    return sorted(rows + unreadable_rows)


def alerts_text(stats: Stats) -> str:
    """The rules of the raised alerts: ``waiting>500 oldest>3600``."""
    return " ".join(f"{alert.name}>{alert.limit}" for alert in stats.alerts)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
