"""``leaseq simulate``: simulated people on a real queue."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from leaseq.cli.common import connected, emit_json, existing_queue, json_option, stopped_by_signals

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.simulation import Outcome

RATE = click.FloatRange(0, 1)


@click.command(epilog="Example: leaseq simulate reviews --people 12 --think 1 --walk-away-rate 0.1")
@click.argument("name", metavar="QUEUE")
@click.option(
    "--people", type=click.IntRange(1, 1_000), default=8, show_default=True, help="How many people work."
)
@click.option(
    "--think",
    type=click.FloatRange(0, 86_400),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="The average time spent on an item.",
)
@click.option("--abandon-rate", type=RATE, default=0.05, show_default=True, help="Share of items given back.")
@click.option(
    "--fail-rate", type=RATE, default=0.03, show_default=True, help="Share of items reported as broken."
)
@click.option(
    "--walk-away-rate",
    type=RATE,
    default=0.02,
    show_default=True,
    help="Share of items left until the lease expires.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 604_800),
    help="Stop after this many seconds. [default: when no work is left]",
)
@click.option("--seed", type=int, help="Repeat the same choices.")
@json_option
@connected
def simulate(client: Client, /, name: str, as_json: bool, **behaviour: Any) -> None:
    """Simulate people who work on QUEUE: they think, finish, give back, fail and walk away.

    Their answers are real and are kept, so use a queue made for testing.
    """
    from leaseq.simulation import Plan, run

    plan = Plan(**behaviour)
    queue = existing_queue(client, name)
    with stopped_by_signals() as stop, _live() as show:
        outcome = run(queue, plan, stop=stop, on_tick=show)
    if as_json:
        emit_json(asdict(outcome))
    else:
        click.echo(_line(outcome))


@contextmanager
def _live() -> Iterator[Callable[[Outcome], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("", console=Console(stderr=True)) as status:
        yield lambda outcome: status.update(_line(outcome))


def _line(outcome: Outcome) -> str:
    return (
        f"{outcome.seconds:.0f} s: {outcome.finished:,} finished ({outcome.late:,} late), "
        f"{outcome.abandoned:,} abandoned, {outcome.failed:,} failed, {outcome.walked_away:,} walked away, "
        f"{outcome.lost:,} lost; {outcome.left:,} left"
    )
