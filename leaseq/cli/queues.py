"""``leaseq queue``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from leaseq.cli.common import (
    UNREADABLE_NOTE,
    CommandFailed,
    confirm,
    connected,
    count,
    emit_json,
    emit_table,
    existing_queue,
    json_option,
    unreadable_shape,
    yes_option,
)
from leaseq.cli.stats import COLUMNS, alerts_text, counts
from leaseq.errors import Invalid
from leaseq.models import STATES, State
from leaseq.policy import FIELDS
from leaseq.policy_fields import Alerts, Bands, Boolean, Field, Form, Integer, OneOf, Seconds, Text
from leaseq.validation import load_json

if TYPE_CHECKING:
    from leaseq import Client, Queue

P = ParamSpec("P")
R = TypeVar("R")


def _or_none(value_type: Any) -> Callable[[Any], Any]:
    """The click type of the values of another one, or 'none'."""
    return lambda value: None if value == "none" else click.types.convert_type(value_type)(value)


def _json_file(path: str) -> Any:
    try:
        return load_json(Path(path).read_bytes(), "form")
    except Invalid as error:
        raise click.BadParameter(f"{path}: {error}") from None
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}") from None


def policy_options(*, for_new_queue: bool) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """Add an option for each policy field to a command; ``changes`` contains those that were given.
    ``for_new_queue``: without an option its field has the default, which the help then names."""

    def add_options(command: Callable[P, R]) -> Callable[..., R]:
        @wraps(command)
        def with_changes(*args: Any, **kwargs: Any) -> R:
            values = {name: kwargs.pop(name) for name in FIELDS}
            source = click.get_current_context().get_parameter_source
            changes = {
                name: value for name, value in values.items() if source(name) is ParameterSource.COMMANDLINE
            }
            return command(*args, changes=changes, **kwargs)  # type: ignore[arg-type]

        result: Callable[..., R] = with_changes
        for field in reversed(FIELDS.values()):
            flags, settings = flags_and_settings(field)
            text = field.explain("none") + (f" [default: {_default(field)}]" if for_new_queue else "")
            result = click.option(flags, field.name, help=text, **settings)(result)
        return result

    return add_options


def _default(field: Field) -> str:
    """A field's default as one would give it to its option; "empty" for an empty text or list."""
    value = field.default
    if isinstance(field.kind, Boolean):
        return flags_and_settings(field)[0].split("/")[0 if value else 1]
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "empty"
    return str(value) or "empty"


def flags_and_settings(field: Field) -> tuple[str, dict[str, Any]]:
    """The flags of a field's option, and its further settings for click."""
    flag = "--" + field.name.replace("_", "-")
    if isinstance(field.kind, Boolean):
        return f"{flag}/--no-{flag[2:]}", {"default": None}
    if isinstance(field.kind, Bands):
        return flag, {"nargs": 2, "type": int, "metavar": "LOW HIGH"}
    kind, metavar = _type(field)
    if field.none:
        return flag, {"type": _or_none(kind), "metavar": f"{metavar}|none"}
    return flag, {"type": kind, "metavar": metavar}


def _type(field: Field) -> tuple[Any, str]:
    """The click type of a field, and how it is shown."""
    match field.kind:
        case Seconds():
            return click.FLOAT, "SECONDS"
        case Integer():
            return click.INT, "N"
        case OneOf(choices):
            return click.Choice(tuple(choices)), "|".join(choices)
        case Text():
            return click.STRING, "TEXT"
        case Form():
            return _json_file, "FILE"
        case Alerts():
            return field.kind.parse, "RULES"
    raise TypeError(f"{field.name}: no option is made for a {type(field.kind).__name__}")


_STEP = 10_000  # items revived or removed per call


@click.group(epilog="Example: leaseq queue create reviews --lease-seconds 600")
def queue() -> None:
    """Create, change, show, list, pause, resume and delete queues; revive and remove items."""


@queue.command(epilog='Example: leaseq queue create reviews --title "Reviews" --form form.json')
@click.argument("name", metavar="QUEUE")
@policy_options(for_new_queue=True)
@connected
def create(client: Client, name: str, changes: dict[str, Any]) -> None:
    """Create a queue."""
    from leaseq import Queue, QueueExists

    new_queue = Queue(client, name)
    try:
        new_queue.configure(create_only=True, **changes)
    except QueueExists:
        raise CommandFailed(
            f"there is already a queue {name!r}; change it with `leaseq queue set {name}`"
        ) from None
    click.echo(f"queue {name!r} created")
    _warn_of_title(client, new_queue, changes)


@queue.command("set", epilog="Example: leaseq queue set reviews --max-attempts 5")
@click.argument("name", metavar="QUEUE")
@policy_options(for_new_queue=False)
@connected
def set_(client: Client, name: str, changes: dict[str, Any]) -> None:
    """Change a queue's policy: only the options that are given."""
    if not changes:
        raise click.UsageError("name what to change: `leaseq queue set --help` lists the options.")
    changed_queue = existing_queue(client, name)
    changed_queue.configure(**changes)
    click.echo(f"queue {name!r}: changed {', '.join(changes)}")
    if "answers" in changes:
        _tell_of_items_that_need_more(changed_queue, changes["answers"])
    _warn_of_title(client, changed_queue, changes)


def _tell_of_items_that_need_more(changed_queue: Queue, answers: int) -> None:
    """Say how many items were handed out for more answers, and still wait for them."""
    from leaseq import Filter

    ids, has_more = set(), False
    for state in ("inbound", "reserved", "scheduled", "dead"):
        page = changed_queue.find(state, Filter(answers_above=answers), limit=1_000, backwards=True)
        ids |= {item.id for item in page.items}
        has_more = has_more or page.after is not None
    if ids:
        click.echo(
            f"leaseq: {'at least ' if has_more else ''}{count(len(ids), 'item', 'items')} handed out before "
            f"still wait for more than {answers}: change each of them (`answers`), or save the number on the "
            "settings page, which offers it for all of them",
            err=True,
        )


def _warn_of_title(client: Client, changed_queue: Queue, changes: dict[str, Any]) -> None:
    """Warn if another queue has a title that people could confuse with the new one."""
    from leaseq import names, read_queues

    title = changed_queue.policy.title
    if "title" not in changes or not title:
        return
    titles, _ = read_queues(client, lambda queue: queue.policy.title)
    for name, other in titles.items():
        if name != changed_queue.name and (other == title or names.find_lookalike(title, [other])):
            click.echo(
                f"leaseq: the title {title!r} looks like that of queue {name!r}: people may confuse the two",
                err=True,
            )
            return


@queue.command(epilog="Example: leaseq queue show reviews --json")
@click.argument("name", metavar="QUEUE")
@json_option
@connected
def show(client: Client, name: str, as_json: bool) -> None:
    """Show a queue's policy and its counts."""
    named_queue = existing_queue(client, name)
    policy, stats = asdict(named_queue.policy), named_queue.stats()
    numbers = counts(stats)
    if as_json:
        emit_json({"name": name, "policy": policy, "stats": numbers})
        return
    click.echo(f"queue {name}")
    status = {"paused": stats.paused, "raised alerts": alerts_text(stats)}
    for section in (policy, {column: numbers[column] for column in COLUMNS}, status):
        for field, value in section.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"  {field:22} {text}".rstrip())


@queue.command("list", epilog="Example: leaseq queue list")
@json_option
@connected
def list_(client: Client, as_json: bool) -> None:
    """List the queues."""
    from leaseq import read_queues

    def shape(named_queue: Queue) -> dict[str, Any]:
        return {
            "name": named_queue.name,
            "title": named_queue.policy.title,
            "stats": counts(named_queue.stats()),
        }

    if as_json:
        shapes, errors = read_queues(client, shape)
        rows = list(shapes.values())
        emit_json({"queues": rows, "unreadable": unreadable_shape(errors), "after": None})
        return
    titles, errors = read_queues(client, lambda queue: queue.policy.title)
    titles |= dict.fromkeys(errors, UNREADABLE_NOTE)
    if titles:
        emit_table(("queue", "title"), sorted(titles.items()))
    else:
        click.echo("there are no queues; create one: leaseq queue create NAME", err=True)


@queue.command(epilog='Example: leaseq queue pause reviews --reason "back at two"')
@click.argument("name", metavar="QUEUE")
@click.option("--reason", help="The reason, which people see.")
@connected
def pause(client: Client, name: str, reason: str | None) -> None:
    """Stop reserving for now. People may finish the items they hold."""
    existing_queue(client, name).pause(reason)
    click.echo(f"queue {name!r} is paused")


@queue.command(epilog="Example: leaseq queue resume reviews")
@click.argument("name", metavar="QUEUE")
@connected
def resume(client: Client, name: str) -> None:
    """End a pause."""
    existing_queue(client, name).resume()
    click.echo(f"queue {name!r} is resumed")


@queue.command(epilog="Example: leaseq queue delete reviews")
@click.argument("name", metavar="QUEUE")
@yes_option
@connected
def delete(client: Client, name: str, yes: bool) -> None:
    """Delete a queue with its items, answers, drafts and journal. Asks first, on a terminal.

    People who hold one of its items can no longer send their answer. Export
    the answers first: `leaseq export QUEUE`. If a deletion is interrupted, run
    the same command again to finish it.
    """
    from leaseq import Queue, QueueNotFound

    named_queue = Queue(client, name)
    try:
        stats = named_queue.stats()
    except QueueNotFound:
        named_queue.delete()  # finishes an interrupted deletion; otherwise raises QueueNotFound
        click.echo(f"queue {name!r} is deleted")
        return
    items = sum(getattr(stats, state) for state in STATES)
    summary = (
        f"{count(items, 'item', 'items')}, {stats.reserved:,} of them held and {stats.finished:,} finished"
    )
    confirm(yes, f"Delete queue {name!r} with {summary}?")
    named_queue.delete()
    click.echo(f"queue {name!r} is deleted: {summary}")


@queue.command(epilog='Example: leaseq queue remove reviews dead --error "cut off"')
@click.argument("name", metavar="QUEUE")
@click.argument("state", type=click.Choice(STATES))
@click.option("--error", metavar="TEXT", help="Items whose last error contains this text.")
@click.option("--person", metavar="NAME", help="Items that this person held last.")
@click.option("--all", "everything", is_flag=True, help="All items in that state.")
@yes_option
@connected
def remove(
    client: Client,
    name: str,
    state: State,
    error: str | None,
    person: str | None,
    everything: bool,
    yes: bool,
) -> None:
    """Delete items in a state, with their answers and history: those that --error and --person match, or
    --all."""
    if everything == (error is not None or person is not None):
        raise click.UsageError("give either --error or --person or both, or --all.")
    named_queue = existing_queue(client, name)
    selection = "all" if everything else "the matching"
    confirm(
        yes,
        f"Delete {selection} {state} items of queue {name!r}, of {getattr(named_queue.stats(), state):,}?",
    )
    remove_some = partial(named_queue.remove_all, state, error=error, person=person, limit=_STEP)
    click.echo(f"queue {name!r}: {_count_all(remove_some):,} removed")


@queue.command(epilog='Example: leaseq queue revive reviews --error "cut off"')
@click.argument("name", metavar="QUEUE")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--error", metavar="TEXT", help="Items whose last error contains this text.")
@click.option("--person", metavar="NAME", help="Items that this person held last.")
@click.option("--all", "everything", is_flag=True, help="All dead items.")
@connected
def revive(
    client: Client, name: str, ids: tuple[str, ...], error: str | None, person: str | None, everything: bool
) -> None:
    """Return dead items to the queue: those with the IDs, those that --error and --person match, or --all."""
    if (bool(ids), error is not None or person is not None, everything).count(True) != 1:
        raise click.UsageError("give either IDs, or --error or --person or both, or --all.")
    named_queue = existing_queue(client, name)
    if ids:
        missing_count = _each(named_queue.revive, ids)
        click.echo(f"queue {name!r}: {len(ids) - missing_count:,} revived")
        if missing_count:
            raise CommandFailed(
                f"{missing_count:,} of the {count(len(ids), 'item', 'items')} named can't be revived"
            )
        return
    revive_some = partial(named_queue.revive_all, error=error, person=person, limit=_STEP)
    click.echo(f"queue {name!r}: {_count_all(revive_some):,} revived")


@queue.command(epilog='Example: leaseq queue cancel reviews r-7 --reason "the order was withdrawn"')
@click.argument("name", metavar="QUEUE")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", metavar="TEXT", help="Why nobody needs them any more.")
@connected
def cancel(client: Client, name: str, ids: tuple[str, ...], reason: str | None) -> None:
    """End items that nobody needs any more: they are dead at once, also if somebody holds them."""
    named_queue = existing_queue(client, name)
    refused_count = _each(partial(named_queue.cancel, reason=reason), ids)
    click.echo(f"queue {name!r}: {len(ids) - refused_count:,} cancelled")
    if refused_count:
        raise CommandFailed(
            f"{refused_count:,} of the {count(len(ids), 'item', 'items')} named can't be cancelled"
        )


def _count_all(change_some: Callable[[], int]) -> int:
    """The number of items changed by calls that change at most _STEP each."""
    total = step = change_some()
    while step == _STEP:
        total += (step := change_some())
    return total


def _each(act: Callable[[str], object], ids: tuple[str, ...]) -> int:
    """Do something to each of these items, report those that refuse it, and return their number."""
    from leaseq import Invalid, ItemNotFound

    refused_count = 0
    for id in ids:
        try:
            act(id)
        except (Invalid, ItemNotFound) as error:
            click.echo(f"leaseq: {error}", err=True)
            refused_count += 1
    return refused_count
