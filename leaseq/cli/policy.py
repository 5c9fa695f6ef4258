"""One option for each field of the policy, made from the dataclass so that none can be forgotten."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_type_hints

import click
from click.core import ParameterSource

from leaseq.errors import Invalid
from leaseq.policy import DURABLE, Durable, Policy
from leaseq.validation import load_json

P = ParamSpec("P")
R = TypeVar("R")

HELP = {
    "lease_seconds": "How long a person may hold an item.",
    "max_attempts": "Leases that run out and fails until an item is dead.",
    "retry_seconds": "The wait after the first fail; doubled for each one after it.",
    "retry_max_seconds": "The longest such wait.",
    "holds": "Leases that one person may have at once.",
    "bands": "Priorities up to the first number are high, past the second low.",
    "renewals": "How often one lease may be renewed; 'none' is without limit.",
    "share_drafts": "Show a draft to the next person who gets the item.",
    "answers": "How many people are to answer each item.",
    "max_abandons": "When that many people gave an item back, it is dead; 'none' is without limit.",
    "dedupe_seconds": "An equal payload within this time is a duplicate, whatever its id.",
    "keep_finished_seconds": "How long a finished item is kept; 'none' keeps it.",
    "durable": "What an acknowledgement waits for: the server, its disk, a replica, or most of them.",
    "form": "A JSON file: how to show a payload and what to ask; 'none' takes the form away.",
    "title": "The queue's name for people.",
    "instructions": "What people should know, in Markdown.",
}


class _IntegerOrNone(click.ParamType[int | None]):
    name = "integer|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        return None if value == "none" else int(click.INT.convert(value, param, ctx))


class _NumberOrNone(click.ParamType[float | None]):
    name = "float|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        return None if value == "none" else float(click.FLOAT.convert(value, param, ctx))


class _JsonFile(click.ParamType[Any]):
    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "none":
            return None
        try:
            return load_json(Path(value).read_bytes(), "form")
        except Invalid as error:
            self.fail(f"{value}: {error}", param, ctx)
        except OSError as error:
            self.fail(f"{value}: {error.strerror}", param, ctx)


def policy_options(command: Callable[P, R]) -> Callable[..., R]:
    """Give a command all the options, and as ``changes`` those that were given."""
    names = [field.name for field in fields(Policy)]

    @functools.wraps(command)
    def with_changes(*args: Any, **kwargs: Any) -> R:
        values = {name: kwargs.pop(name) for name in names}
        source = click.get_current_context().get_parameter_source
        given = {name: value for name, value in values.items() if source(name) is ParameterSource.COMMANDLINE}
        return command(*args, changes=given, **kwargs)  # type: ignore[arg-type]

    result: Callable[..., R] = with_changes
    hints = get_type_hints(Policy)
    for name in reversed(names):
        result = _option(name, hints[name])(result)
    return result


def _option(name: str, hint: Any) -> Callable[[Callable[..., R]], Callable[..., R]]:
    flag = "--" + name.replace("_", "-")
    if hint is bool:
        off = "--no-" + name.replace("_", "-")
        return click.option(f"{flag}/{off}", name, default=None, help=HELP[name])
    if hint == tuple[int, int]:
        return click.option(flag, name, nargs=2, type=int, metavar="LOW HIGH", help=HELP[name])
    return click.option(flag, name, type=_TYPES[hint], help=HELP[name])


# A field of a type that isn't here, or without a line of help, fails at import: it can't be forgotten.
_TYPES: dict[Any, click.ParamType[Any]] = {
    float: click.FLOAT,
    int: click.INT,
    int | None: _IntegerOrNone(),
    float | None: _NumberOrNone(),
    Durable: click.Choice(DURABLE),
    str: click.STRING,
    Any: _JsonFile(),
}
