"""The parts that commands share: options, errors, output, signals."""

from __future__ import annotations

import functools
import json
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from leaseq.discovery import DATA_VARIABLE, DEFAULT_DATA, URL_VARIABLE, running_url
from leaseq.names import no_queue

if TYPE_CHECKING:
    from leaseq import Client, Queue, QueueUnreadable

_NUMBERS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM and SIGINT set; the previous handlers are restored at the end.

    A handler runs in the main thread, between any two of its steps. In the middle of ``stop.wait()`` it would
    wait forever for a lock that its own thread holds. So another thread sets the event: it reads the signals'
    numbers from a socket.
    """
    stop = threading.Event()
    reader, writer = socket.socketpair()
    writer.setblocking(False)  # as set_wakeup_fd requires
    watcher = threading.Thread(target=_set_on_signal, args=(stop, reader), name="leaseq-signals", daemon=True)
    watcher.start()
    old_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    old_handlers = {number: signal.signal(number, lambda *_: None) for number in _NUMBERS}
    try:
        yield stop
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(old_fd)
        writer.close()
        watcher.join()
        reader.close()


def _set_on_signal(stop: threading.Event, reader: socket.socket) -> None:
    """Set the event at the first of the signals; end when the other side is closed."""
    while numbers := reader.recv(64):
        if any(number in _NUMBERS for number in numbers):
            stop.set()


P = ParamSpec("P")
R = TypeVar("R")


class CommandFailed(click.ClickException):
    """Ends the command with exit code 1 and one line on standard error."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"leaseq: {self.message}", file=file, err=file is None)


class CommandMisused(CommandFailed):
    """Like `CommandFailed`, for wrong arguments: exit code 2."""

    exit_code = 2


redis_option = click.option(
    "--redis",
    metavar="URL",
    envvar=URL_VARIABLE,
    help="The server's URL: redis:// rediss:// unix:// redis+sentinel:// redis+cluster:// [env: "
    "LEASEQ_REDIS_URL]",
)
data_option = click.option(
    "--data",
    metavar="DIR",
    envvar=DATA_VARIABLE,
    default=DEFAULT_DATA,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The data directory of a running `leaseq up`, to use its server. [env: LEASEQ_DATA]",
)
yes_option = click.option("--yes", is_flag=True, help="Don't ask.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def connected(command: Callable[Concatenate[Client, P], R]) -> Callable[P, R]:
    """Add ``--redis`` and ``--data`` to a command, and pass a client of that server as its first argument."""

    @redis_option
    @data_option
    @functools.wraps(command)
    def with_client(*args: P.args, **kwargs: P.kwargs) -> R:
        redis, data = kwargs.pop("redis"), kwargs.pop("data")
        from leaseq import connect

        client = connect(server_url(redis, data))  # type: ignore[arg-type]
        try:
            return command(client, *args, **kwargs)
        finally:
            client.close()

    return with_client


def server_url(redis: str | None, data: Path) -> str:
    """The server's URL: ``--redis``, else that of the `leaseq up` running for ``--data``.

    A flag takes precedence over an environment variable: ``--data`` on the command line over
    LEASEQ_REDIS_URL.
    """
    context = click.get_current_context()
    url_from_flag = context.get_parameter_source("data") is ParameterSource.COMMANDLINE
    if redis and not (url_from_flag and context.get_parameter_source("redis") is ParameterSource.ENVIRONMENT):
        return redis
    url = running_url(data)
    if url is None:
        raise CommandFailed(
            f"no server: no `leaseq up` is running for the data directory '{data}'. Start one, name its "
            "directory with --data DIR, or name a server with --redis URL or LEASEQ_REDIS_URL"
        )
    return url


def existing_queue(client: Client, name: str) -> Queue:
    """The queue of this name, which must exist: on the command line, only `queue create` creates one."""
    from leaseq import Queue, queues

    queue = Queue(client, name)
    if not queue.exists():
        raise CommandFailed(no_queue(name, queues(client)))
    return queue


def addressee(client: Client, queue: str, name: str) -> str:
    """The stored name of somebody who may get an item of the queue. Raises Invalid (``to``) for others."""
    for entry in entry_points(group="leaseq.addressees"):
        name = entry.load()(client, queue, name)
    return name


def confirm(yes: bool, question: str) -> None:
    """Ask on a terminal before something is deleted; elsewhere ``--yes`` is required."""
    if yes:
        return
    if not _is_terminal():
        raise CommandMisused(f"{question} Add --yes: there is no terminal to ask on")
    click.confirm(question, abort=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def named_or_all(client: Client, names: Sequence[str]) -> list[str]:
    """The named queues, each of which must exist, or all queues if none is named."""
    from leaseq import queues

    if not names:
        return sorted(queues(client))
    return [existing_queue(client, name).name for name in dict.fromkeys(names)]


def unreadable_shape(errors: Mapping[str, QueueUnreadable]) -> list[dict[str, str]]:
    """The JSON shape of queues that this version of leaseq can't read."""
    return [{"name": name, "detail": str(error)} for name, error in errors.items()]


UNREADABLE_NOTE = "(needs a newer version of leaseq)"
"""Shown in a table in place of what could not be read."""


def count(number: int, singular: str, plural: str) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number:,} {singular if number == 1 else plural}"


def emit_json(value: Any, *, indent: int | None = 2) -> None:
    """Print ``value`` as JSON in ASCII, which any terminal and any program can read."""
    click.echo(json.dumps(value, indent=indent, default=_json_default))


def _json_default(value: object) -> Any:
    from leaseq.transfer import rfc3339

    if isinstance(value, datetime):
        return rfc3339(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def emit_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: columns of numbers are right-aligned, the others left-aligned."""
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    numeric = [
        bool(rows) and all(row[column].replace(",", "").isdecimal() for row in rows)
        for column in range(len(headings))
    ]
    for row in (headings, *rows):
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())
