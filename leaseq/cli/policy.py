"""Command line options for the policy's fields, made from the fields' descriptions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from leaseq.errors import Invalid
from leaseq.policy import FIELDS
from leaseq.policy_fields import Alerts, Bands, Boolean, Field, Form, Integer, OneOf, Seconds, Text
from leaseq.validation import load_json

P = ParamSpec("P")
R = TypeVar("R")


class _OptionalType(click.ParamType[Any]):
    """The values of another option type, or 'none'."""

    def __init__(self, value_type: click.ParamType[Any]) -> None:
        self._value_type = value_type
        self.name = f"{value_type.name}|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if value == "none" else self._value_type.convert(value, param, ctx)


class _JsonFile(click.ParamType[Any]):
    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return load_json(Path(value).read_bytes(), "form")
        except Invalid as error:
            self.fail(f"{value}: {error}", param, ctx)
        except OSError as error:
            self.fail(f"{value}: {error.strerror}", param, ctx)


class _Rules(click.ParamType[Any]):
    name = "rules"

    def __init__(self, kind: Alerts) -> None:
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        return self._kind.parse(value)


def policy_options(*, for_new_queue: bool) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """Add an option for each policy field to a command; ``changes`` contains those that were given.
    ``for_new_queue``: without an option its field has the default, which the help then names."""

    def add_options(command: Callable[P, R]) -> Callable[..., R]:
        @functools.wraps(command)
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
    if field.description.none:
        return flag, {"type": _OptionalType(kind), "metavar": f"{metavar}|none"}
    return flag, {"type": kind, "metavar": metavar}


def _type(field: Field) -> tuple[click.ParamType[Any], str]:
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
            return _JsonFile(), "FILE"
        case Alerts():
            return _Rules(field.kind), "RULES"
    raise TypeError(f"{field.name}: no option is made for a {type(field.kind).__name__}")
