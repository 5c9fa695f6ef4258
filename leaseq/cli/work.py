"""``leaseq work``: run a function as a worker on a queue."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from leaseq.cli.common import CommandMisused, connected, existing_queue
from leaseq.cli.progress import working_line

if TYPE_CHECKING:
    from leaseq import Client, WorkerStats


@click.command(epilog="Example: leaseq work reviews prelabel:handle --person prelabel-bot --concurrency 4")
@click.argument("queue")
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--person",
    metavar="NAME",
    help="The person who gives the answers. [default: the function's name with -bot]",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="How many items it works on at once, limited by the queue's `holds`.",
)
@click.option(
    "--skill", "skills", multiple=True, metavar="SKILL", help="A skill that it has; may be repeated."
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long it may finish items after a signal, before it gives them back.",
)
@connected
def work(
    client: Client,
    queue: str,
    function: str,
    person: str | None,
    concurrency: int,
    skills: tuple[str, ...],
    grace: float,
) -> None:
    """Run MODULE:FUNCTION as a worker of QUEUE, until SIGTERM or Ctrl-C.

    It is called with a lease. Its return value is the result, and an exception fails the item. The module
    may also be in the current directory.
    """
    from leaseq import Worker

    handle = _function(function)
    existing = existing_queue(client, queue)
    name = person or f"{function.rpartition(':')[2]}-bot"
    worker = Worker(
        client, {existing.name: handle}, person=name, concurrency=concurrency, skills=skills, grace=grace
    )
    click.echo(f"{name} works on {existing.name}. Ctrl-C stops it.", err=True)
    with working_line(lambda: _ended(worker.stats)):
        worker.run()
    done = worker.stats
    click.echo(f"{done.finished} finished, {done.failed} failed, {done.given_back} given back", err=True)


def _ended(done: WorkerStats) -> tuple[int, int]:
    return done.finished, done.failed


def _function(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    if not module or not name:
        raise CommandMisused(f"{path!r} is not MODULE:FUNCTION")
    here = str(Path.cwd())
    if here not in sys.path:  # and it stays: the function may import more when it is called
        sys.path.insert(0, here)
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise CommandMisused(f"no module {error.name!r} in the current directory or installed") from None
    except Exception as error:
        raise CommandMisused(f"{module!r} can't be imported: {type(error).__name__}: {error}") from error
    handle = getattr(loaded, name, None)
    if not callable(handle):
        raise CommandMisused(f"{module!r} has no function {name!r}")
    return cast("Callable[..., Any]", handle)
