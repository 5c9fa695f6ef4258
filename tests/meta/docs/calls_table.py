"""Prints the page of the library's calls, made from the code: ``python -m tests.meta.docs.calls_table``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, get_overloads

import leaseq
from leaseq import backup, transfer
from tests.meta.docs.types_table import markdown

PAGE = """# Calls

Every call of the library and of its modules `leaseq.transfer` and `leaseq.backup`, with its parameters and
what it returns. [developer.md](developer.md) explains them in their order of use, [types.md](types.md) has
the fields of what they return. What takes a `lease` also takes `id=`, `token=` and `person=` in its place. In
`leaseq.aio` ([asyncio.md](asyncio.md)) the same calls are coroutines, and what returns an `Iterator` here is
an asynchronous iterator. This page is made from the code.

## Functions

{functions}

{classes}

## `leaseq.transfer`

{transfer}

## `leaseq.backup`

{backup}
"""


def page() -> str:
    functions = (leaseq.connect, leaseq.queues, leaseq.read_queues)
    return PAGE.format(
        functions="\n\n".join(_call(one.__name__, one) for one in functions),
        classes="\n\n".join(map(_class, (leaseq.Client, leaseq.Queue, leaseq.Worker))),
        transfer=_module(transfer),
        backup=_module(backup),
    )


def members(kind: type[Any]) -> dict[str, Any]:
    """The public methods and properties of a class, by name."""
    found = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {name: one for name, one in found.items() if callable(one) or isinstance(one, _PROPERTY)}


_PROPERTY = (property, cached_property)


def _module(module: ModuleType) -> str:
    """Its functions, and how its classes that are no records are made."""
    there = [getattr(module, name) for name in module.__all__]
    functions = [one for one in there if inspect.isfunction(one)]
    classes = [transfer.AnswersSince, transfer.Rejects] if module is transfer else []
    made = (
        _section(f"{one.__name__}({', '.join(_parameters(inspect.signature(one)))})", one) for one in classes
    )
    return "\n\n".join([*(_call(one.__name__, one) for one in functions), *made])


def _class(kind: type[Any]) -> str:
    made = [] if kind is leaseq.Client else [_call(kind.__name__, kind.__init__)]  # connect makes it
    about = markdown(inspect.getdoc(kind) or "")
    calls = (_member(name, one) for name, one in members(kind).items())
    return "\n\n".join([f"## `{kind.__name__}`", about, *made, *calls])


def _member(name: str, one: Any) -> str:
    if not isinstance(one, _PROPERTY):
        return _call(name, one)
    get: Any = one.fget if isinstance(one, property) else one.func
    return _section(f"{name}: {get.__annotations__['return']}", get)


def _call(name: str, call: Callable[..., Any]) -> str:
    """With a lease, where there are several forms of it."""
    shown = next(iter(get_overloads(call)), call)
    signature = inspect.signature(shown)
    parameters = ", ".join(_parameters(signature))
    gives = str(signature.return_annotation)
    if inspect.unwrap(call) is not call:  # by contextlib.contextmanager
        gives = gives.replace("Iterator", "AbstractContextManager")
    returns = "" if call.__name__ == "__init__" else f" -> {gives}"
    return _section(f"{name}({parameters}){returns}", call)


def _parameters(signature: inspect.Signature) -> list[str]:
    shown, starred = [], False
    for one in signature.parameters.values():
        if one.name == "self" or "LeaseParts" in str(one.annotation):
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        stars = "*" * (one.kind is one.VAR_POSITIONAL) or "**" * (one.kind is one.VAR_KEYWORD)
        starred = starred or bool(stars)
        default = "" if one.default is one.empty else f" = {_default(one.default)}"
        shown.append(f"{stars}{one.name}: {one.annotation}{default}")
    return shown


def _default(value: object) -> str:
    if value == leaseq.Filter():
        return "Filter()"
    return value.__name__ if inspect.isroutine(value) or inspect.isclass(value) else repr(value)


def _section(title: str, about: Any) -> str:
    return f"### `{title}`\n\n{markdown(inspect.cleandoc(about.__doc__ or ''))}".rstrip()


if __name__ == "__main__":
    print(page(), end="")
