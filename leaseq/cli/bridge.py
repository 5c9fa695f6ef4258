"""``leaseq bridge``: a SQL database holds the backlog and the answers."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from leaseq.cli.common import CommandFailed, connected, count, emit_json, json_option, stopped_by_signals

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from leaseq import Client

P = ParamSpec("P")
R = TypeVar("R")


def database_option(command: Callable[Concatenate[Engine, P], R]) -> Callable[P, R]:
    """Add ``--database`` to a command, and pass an engine for that database as its first argument."""

    @click.option(
        "--database",
        metavar="URL",
        envvar="LEASEQ_DATABASE",
        required=True,
        help="The SQL database: postgresql://user:password@host/database, or sqlite:////path/to/a/file. "
        "`leaseq up` uses it, too: it runs the bridge if it is set. [env: LEASEQ_DATABASE]",
    )
    @functools.wraps(command)
    def with_engine(*args: P.args, **kwargs: P.kwargs) -> R:
        from leaseq.bridge.database import open_database

        creates = command.__name__ == "init" or bool(kwargs.get("make"))
        engine = open_database(str(kwargs.pop("database")), create=creates)
        try:
            return command(engine, *args, **kwargs)
        finally:
            engine.dispose()

    return with_engine


@click.group(epilog="Example: leaseq bridge init --database sqlite:////var/lib/work.db")
def bridge() -> None:
    """Connect queues with a SQL database that holds the backlog and the answers."""
    logging.basicConfig(format="leaseq: %(message)s", stream=sys.stderr)


@bridge.command(epilog="Example: leaseq bridge init --database postgresql:///work")
@database_option
def init(engine: Engine) -> None:
    """Create leaseq's tables in the database, or upgrade them to this version. Needs no server."""
    from leaseq.bridge.schema import upgrade

    old_version, version = upgrade(engine)
    if old_version == version:
        click.echo(f"The tables are of version {version} already.")
    else:
        note = f" (before: {old_version})" if old_version else ""
        click.echo(f"The tables are of version {version} now{note}.")


@bridge.command(epilog="Example: leaseq bridge run --database postgresql:///work --window 10000")
@click.option(
    "--queue",
    "queues",
    multiple=True,
    metavar="NAME",
    envvar="LEASEQ_BRIDGE_QUEUES",
    help="Only this queue; repeat it for several, or separate them by spaces in the variable. Without it, "
    "all queues that the database has rows for. [env: LEASEQ_BRIDGE_QUEUES]",
)
@click.option(
    "--window",
    default=10_000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    envvar="LEASEQ_BRIDGE_WINDOW",
    help="How many items may wait in a queue. [env: LEASEQ_BRIDGE_WINDOW]",
)
@click.option(
    "--low",
    type=click.IntRange(0, 999_999),
    envvar="LEASEQ_BRIDGE_LOW",
    help="Refill a queue when at most this many items wait; half the window if not given. "
    "[env: LEASEQ_BRIDGE_LOW]",
)
@click.option(
    "--part",
    type=click.Choice(("both", "migrate", "archive")),
    default="both",
    show_default=True,
    envvar="LEASEQ_BRIDGE_PART",
    help="migrate: only fill the queues; archive: only write to the database. [env: LEASEQ_BRIDGE_PART]",
)
@click.option(
    "--keep-finished",
    "keep_finished_seconds",
    default=3600.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(0, 315_360_000),
    envvar="LEASEQ_BRIDGE_KEEP_FINISHED",
    help="For how many seconds the server keeps finished items if the queue's policy keeps them "
    "permanently: the database has them. [env: LEASEQ_BRIDGE_KEEP_FINISHED]",
)
@click.option(
    "--keep-events",
    default=100_000,
    show_default=True,
    type=click.IntRange(0, 1_000_000),
    envvar="LEASEQ_BRIDGE_KEEP_EVENTS",
    help="How many entries of a queue's journal the server keeps after the database has them. "
    "[env: LEASEQ_BRIDGE_KEEP_EVENTS]",
)
@click.option("--init", "make", is_flag=True, help="First do what `leaseq bridge init` does.")
@connected
@database_option
def run(
    engine: Engine, client: Client, /, window: int, low: int | None, part: str, make: bool, **options: Any
) -> None:
    """Move waiting rows into queues, and write answers and events to the database, until SIGTERM or Ctrl-C.

    Several may run at the same time.
    """
    from leaseq.bridge.registry import Window
    from leaseq.bridge.run import PARTS, Bridge, Settings
    from leaseq.bridge.schema import upgrade

    limits = Window(window, window // 2 if low is None else low)
    settings = Settings(limits, parts=tuple(name for name in PARTS if part in ("both", name)), **options)
    if make:
        upgrade(engine)
    with stopped_by_signals() as stop:
        Bridge(client, engine, settings).run(stop)


@bridge.command(epilog="Example: leaseq bridge rebuild reviews --database postgresql:///work")
@click.argument("queue")
@connected
@database_option
def rebuild(engine: Engine, client: Client, queue: str) -> None:
    """Restore a queue from the database after the server lost it.

    Unfinished items that were in the queue wait again. Stop the bridge first, and start it afterwards.
    """
    from leaseq.bridge import schema
    from leaseq.bridge.rebuild import rebuild as rebuild_queue

    schema.check(engine)
    result = rebuild_queue(client, engine, queue)
    dead = f"{count(result.dead, 'is', 'are')} dead again, " if result.dead else ""
    click.echo(
        f"{queue}: {count(result.restored, 'item waits', 'items wait')} again, {dead}"
        f"{count(result.waiting, 'row is', 'rows are')} still to be moved by the bridge, "
        f"{count(result.refused, 'was', 'were')} refused; tokens are above {result.tokens_above}"
    )


@bridge.command(epilog="Example: leaseq bridge verify --database postgresql:///work --queue reviews")
@click.option(
    "--queue", "queues", multiple=True, metavar="NAME", help="Only this queue; repeat it for several."
)
@json_option
@connected
@database_option
def verify(engine: Engine, client: Client, queues: tuple[str, ...], as_json: bool) -> None:
    """Compare queues with the database and print each difference; exit with 1 if there are any."""
    from leaseq.bridge import registry, schema
    from leaseq.bridge.database import transaction
    from leaseq.bridge.verify import NOT_IN_QUEUE
    from leaseq.bridge.verify import verify as differences

    schema.check(engine)
    if not queues:
        with transaction(engine) as connection:
            queues = tuple(registry.queues(connection))
    total = 0
    lacking_names = []
    for name in queues:
        for difference in differences(client, engine, name):
            total += 1
            if difference.text == NOT_IN_QUEUE and name not in lacking_names:
                lacking_names.append(name)
            if as_json:
                emit_json(difference, indent=None)
            else:
                click.echo(str(difference))
    if total:
        summary = count(total, "difference", "differences")
        advice = "".join(
            f"; `leaseq bridge rebuild {name}` gives that queue its items again" for name in lacking_names
        )
        raise CommandFailed(f"{summary} between the queues and the database{advice}")
