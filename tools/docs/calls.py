"""The page of the library's calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, get_overloads

import leaseq
from leaseq import backup, transfer
from tools.docs.types import markdown

PAGE = """# Calls

Every call of the library and of its modules `leaseq.transfer` and `leaseq.backup`, with its parameters and
what it returns. [library.md](library.md) explains what they have in common, the
[how-to](README.md#how-to) pages show them in use, and [types.md](types.md) has the fields of what they
return. What takes a `lease` also takes `id=`, `token=` and `person=` in its place. In `leaseq.aio`
([asyncio.md](asyncio.md)) the same calls are coroutines, and what returns an `Iterator` here is an
asynchronous iterator. This page is made from the code.

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
        functions="\n\n".join(_call(function.__name__, function) for function in functions),
        classes="\n\n".join(map(_class, (leaseq.Client, leaseq.Queue, leaseq.Worker))),
        transfer=_module(transfer),
        backup=_module(backup),
    )


def members(kind: type[Any]) -> dict[str, Any]:
    """The public methods and properties of a class, by name."""
    attributes = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {
        name: value
        for name, value in attributes.items()
        if callable(value) or isinstance(value, _PROPERTY_TYPES)
    }


_PROPERTY_TYPES = (property, cached_property)


def _module(module: ModuleType) -> str:
    """A module's functions, and the constructors of its classes that are not records."""
    exports = [getattr(module, name) for name in module.__all__]
    functions = [value for value in exports if inspect.isfunction(value)]
    classes = [transfer.AnswersSince, transfer.Rejects] if module is transfer else []
    constructors = (
        _section(f"{kind.__name__}({', '.join(_parameters(inspect.signature(kind)))})", kind)
        for kind in classes
    )
    return "\n\n".join([*(_call(function.__name__, function) for function in functions), *constructors])


def _class(kind: type[Any]) -> str:
    constructor = [] if kind is leaseq.Client else [_call(kind.__name__, kind.__init__)]  # see connect()
    description = markdown(inspect.getdoc(kind) or "")
    calls = (_member(name, member) for name, member in members(kind).items())
    return "\n\n".join([f"## `{kind.__name__}`", description, *constructor, *calls])


def _member(name: str, member: Any) -> str:
    if not isinstance(member, _PROPERTY_TYPES):
        return _call(name, member)
    getter: Any = member.fget if isinstance(member, property) else member.func
    return _section(f"{name}: {getter.__annotations__['return']}", getter)


def _call(name: str, call: Callable[..., Any]) -> str:
    """A call; the form with a lease if it has several forms."""
    overload = next(iter(get_overloads(call)), call)
    signature = inspect.signature(overload)
    parameters = ", ".join(_parameters(signature))
    return_type = str(signature.return_annotation)
    if inspect.unwrap(call) is not call:  # wrapped by contextlib.contextmanager
        return_type = return_type.replace("Iterator", "AbstractContextManager")
    returns = "" if call.__name__ == "__init__" else f" -> {return_type}"
    return _section(f"{name}({parameters}){returns}", call)


def _parameters(signature: inspect.Signature) -> list[str]:
    texts, has_star = [], False
    for parameter in signature.parameters.values():
        if parameter.name == "self" or "LeaseParts" in str(parameter.annotation):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            texts.append("*")
            has_star = True
        stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) or "**" * (
            parameter.kind is parameter.VAR_KEYWORD
        )
        has_star = has_star or bool(stars)
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        texts.append(f"{stars}{parameter.name}: {parameter.annotation}{default}")
    return texts


def _default(value: object) -> str:
    if value == leaseq.Filter():
        return "Filter()"
    return value.__name__ if inspect.isroutine(value) or inspect.isclass(value) else repr(value)


def _section(title: str, source: Any) -> str:
    return f"### `{title}`\n\n{markdown(inspect.cleandoc(source.__doc__ or ''))}".rstrip()
