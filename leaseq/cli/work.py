"""`leaseq work`: a function as a worker of a queue; `leaseq simulate`: simulated people."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from leaseq.cli.common import (
    CommandMisused,
    connected,
    emit_json,
    existing_queue,
    json_option,
    stopped_by_signals,
)
from leaseq.cli.transfers import working_line
from leaseq.names import did_you_mean

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.simulation import Outcome


def load_function(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    if not module or not name:
        raise CommandMisused(f"{path!r} is not MODULE:FUNCTION")
    directory = str(Path.cwd())
    if directory not in sys.path:  # it stays there: the function may import more when it is called
        sys.path.insert(0, directory)
    try:
        imported_module = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise CommandMisused(f"no module {error.name!r} in the current directory or installed") from None
    except Exception as error:
        raise CommandMisused(f"{module!r} can't be imported: {type(error).__name__}: {error}") from error
    handle = getattr(imported_module, name, None)
    if not callable(handle):
        raise CommandMisused(f"{module!r} has no function {name!r}")
    return cast("Callable[..., Any]", handle)


_OPTIONS = ("person", "concurrency", "order", "skills", "grace")
_KEYS = ("queues", *_OPTIONS)
_QUEUE_KEYS = ("function", "by", "handlers", "retry")
_QUEUE = 'a "module:function", or a table with function, or with by and handlers, and with retry'


@dataclass(slots=True)
class WorkConfig:
    """The arguments of a `Worker`."""

    handlers: dict[str, Any] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)
    retry: dict[str, bool] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


class _File:
    """A configuration file, whose errors name the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def refuse(self, key: str, problem: str) -> CommandMisused:
        return CommandMisused(f"{self.path}: {key}: {problem}")

    def check_keys(
        self, prefix: str, table: Mapping[str, Any], allowed_keys: tuple[str, ...], hint: str = ""
    ) -> None:
        for key in table:
            if key not in allowed_keys:
                limit = f"unknown key; allowed are {', '.join(allowed_keys)}"
                raise self.refuse(f"{prefix}{key}", limit + did_you_mean(key, allowed_keys) + hint)

    def function(self, key: str, value: object) -> Callable[..., Any]:
        if not isinstance(value, str):
            raise self.refuse(key, 'must be a "module:function"')
        try:
            return load_function(value)
        except CommandMisused as error:
            raise self.refuse(key, error.message) from error


def read_config(path: Path) -> WorkConfig:
    """Read the configuration in a file. Raises CommandMisused with the file, the key and what is allowed."""
    file = _File(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandMisused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CommandMisused(f"{path}: not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise CommandMisused(f"{path}: not TOML: {error}") from None
    file.check_keys("", document, _KEYS)
    config = WorkConfig(options={key: document[key] for key in _OPTIONS if key in document})
    queues = document.get("queues")
    if not isinstance(queues, dict) or not queues:
        raise file.refuse("queues", f"required: a table with a key for each queue, whose value is {_QUEUE}")
    for name, value in queues.items():
        if name in _OPTIONS and not isinstance(value, str | dict):
            limit = f"a key of the file, which belongs before [queues]; a queue's value is {_QUEUE}"
            raise file.refuse(f"queues.{name}", limit)
        _read_queue(file, config, name, value)
    return config


def _read_queue(file: _File, config: WorkConfig, name: str, value: object) -> None:
    key = f"queues.{name}"
    if isinstance(value, str):
        value = {"function": value}
    if not isinstance(value, dict):
        raise file.refuse(key, f"must be {_QUEUE}")
    hint = "; a queue's name that has a dot needs quotes"
    file.check_keys(f"{key}.", value, _QUEUE_KEYS, hint)
    if ("function" in value) == ("handlers" in value) or ("by" in value) != ("handlers" in value):
        raise file.refuse(key, f"must be {_QUEUE}; this has {', '.join(value) or 'nothing'}")
    if "function" in value:
        config.handlers[name] = file.function(f"{key}.function", value["function"])
    else:
        config.handlers[name] = _read_handlers(file, key, value)
        config.by[name] = value["by"]
    if "retry" in value:
        if not isinstance(value["retry"], bool):
            raise file.refuse(f"{key}.retry", f"must be true or false; this is {value['retry']!r}")
        config.retry[name] = value["retry"]


def _read_handlers(file: _File, key: str, value: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    if not isinstance(value["by"], str) or not value["by"]:
        raise file.refuse(f"{key}.by", "must be the name of a field of the payload")
    handlers = value["handlers"]
    if not isinstance(handlers, dict) or not handlers:
        limit = f'must be a table with a "module:function" for each value of {value["by"]!r}'
        raise file.refuse(f"{key}.handlers", limit)
    return {
        kind: file.function(f"{key}.handlers.{kind}", function_path)
        for kind, function_path in handlers.items()
    }


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
    client: Client, /, queue: str | None, function: str | None, config_file: Path | None, **options: Any
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
    with working_line(lambda: worker.stats):
        worker.run()
    stats = worker.stats
    click.echo(f"{stats.finished} finished, {stats.failed} failed, {stats.given_back} given back", err=True)


def _config(queue: str | None, function: str | None, config_file: Path | None) -> WorkConfig:
    """The worker's configuration, from the file or from the command line."""
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
