"""``leaseq work``: run functions as a worker on queues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaseq.cli.common import CommandMisused, connected, existing_queue
from leaseq.cli.functions import load_function
from leaseq.cli.progress import working_line
from leaseq.cli.work_config import WorkConfig, read_config

if TYPE_CHECKING:
    from leaseq import Client, WorkerStats


@click.command(epilog="Example: leaseq work reviews prelabel:handle --person prelabel-bot --concurrency 4")
@click.argument("queue", required=False)
@click.argument("function", metavar="[MODULE:FUNCTION]", required=False)
@click.option(
    "--config",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A TOML file with the queues, their functions and these options, instead of QUEUE and "
    "MODULE:FUNCTION. An option on the command line takes precedence.",
)
@click.option(
    "--person",
    metavar="NAME",
    help="The person who gives the answers. [default: the name of the function, or of FILE, with -bot]",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    help="How many items to work on at the same time, limited by the queue's `holds`. [default: 1]",
)
@click.option(
    "--skill", "skills", multiple=True, metavar="SKILL", help="A skill of the worker; may be repeated."
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 86_400),
    metavar="SECONDS",
    help="How long to go on with held items after a signal, before they are given back. [default: 30]",
)
@connected
def work(
    client: Client,
    /,
    queue: str | None,
    function: str | None,
    config_file: Path | None,
    **options: Any,
) -> None:
    """Run MODULE:FUNCTION as a worker of QUEUE, or the functions of a file, until SIGTERM or Ctrl-C.

    A function is called with a lease. Its return value is the result, and an exception fails the item. The
    module may also be in the current directory.
    """
    from leaseq import Invalid, Worker

    config = _config(queue, function, config_file)
    options = config.options | {name: value for name, value in options.items() if value not in (None, ())}
    for name in config.handlers:
        existing_queue(client, name)
    try:
        worker = Worker(client, config.handlers, by=config.by or None, retry=config.retry, **options)
    except Invalid as error:
        if config_file is None:
            raise
        raise CommandMisused(f"{config_file}: {error}") from None
    click.echo(f"{options['person']} works on {', '.join(config.handlers)}. Ctrl-C stops it.", err=True)
    with working_line(lambda: _counts(worker.stats)):
        worker.run()
    stats = worker.stats
    click.echo(f"{stats.finished} finished, {stats.failed} failed, {stats.given_back} given back", err=True)


def _counts(stats: WorkerStats) -> tuple[int, int]:
    return stats.finished, stats.failed


def _config(queue: str | None, function: str | None, config_file: Path | None) -> WorkConfig:
    """What to work on, from the file or from the command line."""
    if config_file is None:
        if queue is None or function is None:
            raise CommandMisused("name a QUEUE and a MODULE:FUNCTION, or a file with --config FILE")
        person = f"{function.rpartition(':')[2]}-bot"
        return WorkConfig({queue: load_function(function)}, options={"person": person})
    if queue is not None:
        raise CommandMisused("leave out QUEUE and MODULE:FUNCTION: they are in the file of --config")
    config = read_config(config_file)
    config.options.setdefault("person", f"{config_file.stem}-bot")
    return config
