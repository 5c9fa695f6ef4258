"""The page of the public types."""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from types import ModuleType
from typing import Any, get_args

import leaseq
from leaseq import backup, events, models, policy, transfer, webhooks

PAGE = """# Types

The fields of what the library takes and returns. Times are aware `datetime`s in UTC. The types are frozen
dataclasses, or named tuples where it says so. `Policy` has a page of its own, [policy.md](policy.md); the
calls are in [calls.md](calls.md). This page is made from the code.

{modules}

## Errors

The attributes of the errors. [library.md](library.md#errors) says when each is raised.

| error | is a | attributes |
|---|---|---|
{errors}

## Values

Text fields of these types hold one of the values.

| type | values | what |
|---|---|---|
{literals}
"""
_MODULES = (
    (leaseq, "leaseq"),
    (transfer, "leaseq.transfer"),
    (backup, "leaseq.backup"),
    (webhooks, "leaseq.webhooks"),
)


def page() -> str:
    return PAGE.format(
        modules="\n\n".join(_module(*entry) for entry in _MODULES),
        errors="\n".join(map(_error, errors())),
        literals="\n".join(_literals()),
    )


def records(module: ModuleType) -> list[type[Any]]:
    """The public types of a module that have fields, by name."""
    exported: list[str] = module.__all__
    names = [
        name for name in exported if name != "Policy" and (module is leaseq or name not in leaseq.__all__)
    ]
    exports = (getattr(module, name) for name in names)
    return [value for value in exports if isinstance(value, type) and _is_record(value)]


@dataclass
class FieldDescription:
    """The description of a field."""

    type: str
    default: str
    meaning: str


def fields(record: type[Any]) -> dict[str, FieldDescription]:
    """The description of each field in the source, after those of a record that it extends."""
    source, tree = _parse(record)
    comments = _comments(source)
    bases = [base for base in record.__bases__ if is_dataclass(base)]
    descriptions = {name: field for base in bases for name, field in fields(base).items()}
    for node, next_node in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            texts = [comments[line] for line in lines if line in comments]
            meaning = _string_of(next_node) or " ".join(texts)
            descriptions[node.target.id] = FieldDescription(
                ast.unparse(node.annotation), _default(node.value), meaning
            )
        elif isinstance(node, ast.FunctionDef) and _is_property(node):
            assert node.returns is not None
            descriptions[node.name] = FieldDescription(
                ast.unparse(node.returns), "", ast.get_docstring(node) or ""
            )
    return descriptions


def errors() -> list[type[Exception]]:
    exports = (getattr(module, name) for module, _ in _MODULES for name in module.__all__)
    return [value for value in exports if isinstance(value, type) and issubclass(value, Exception)]


def attributes(error: type[Exception]) -> dict[str, str]:
    """The type of each attribute that an error sets itself, and of its properties."""
    _, tree = _parse(error)
    types = {}
    for member in tree.body:
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            types[member.target.id] = ast.unparse(member.annotation)
        elif isinstance(member, ast.FunctionDef) and member.decorator_list and member.returns:
            types[member.name] = ast.unparse(member.returns)
    constructor = next(
        (member for member in tree.body if isinstance(member, ast.FunctionDef) and member.name == "__init__"),
        None,
    )
    if constructor is None:
        return types
    annotations = {
        argument.arg: argument.annotation
        for argument in (
            *constructor.args.posonlyargs,
            *constructor.args.args,
            *constructor.args.kwonlyargs,
        )
    }
    for node in constructor.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Attribute):
            kind = node.annotation if isinstance(node, ast.AnnAssign) else annotations[target.attr]
            assert kind is not None
            types[target.attr] = ast.unparse(kind)
    return types


def _parse(kind: type[Any]) -> tuple[str, ast.ClassDef]:
    source = textwrap.dedent(inspect.getsource(kind))
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    return source, tree


def _default(value: ast.expr | None) -> str:
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        keywords = {keyword.arg: keyword.value for keyword in value.keywords}
        factory = keywords.get("default_factory")
        return f"{ast.unparse(factory)}()" if factory else _default(keywords.get("default"))
    return "" if value is None else ast.unparse(value)


def _is_record(value: type[Any]) -> bool:
    if issubclass(value, Exception) or value is leaseq.PolicyChanges:
        return False
    return hasattr(value, "__dataclass_fields__") or hasattr(value, "_fields") or hasattr(value, "__total__")


def _is_property(node: ast.FunctionDef) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in node.decorator_list
    )


def _string_of(node: ast.stmt | None) -> str:
    """The text of an expression statement that is a string: it explains the field before it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


def _module(module: ModuleType, name: str) -> str:
    return "\n\n".join([f"## `{name}`", *map(_record, records(module))])


def _record(record: type[Any]) -> str:
    kind = "A named tuple. " if hasattr(record, "_fields") else ""
    about = inspect.cleandoc(record.__doc__ or "")
    about = "" if about.startswith(f"{record.__name__}(") else kind + about  # a dataclass's default
    descriptions = fields(record)
    if any(description.default for description in descriptions.values()):
        rows = [
            _row(
                f"`{name}`",
                f"`{description.type}`",
                description.default and f"`{description.default}`",
                description.meaning,
            )
            for name, description in descriptions.items()
        ]
        table = "\n".join(["| field | type | default | what |", "|---|---|---|---|", *rows])
    else:
        rows = [
            _row(f"`{name}`", f"`{description.type}`", description.meaning)
            for name, description in descriptions.items()
        ]
        table = "\n".join(["| field | type | what |", "|---|---|---|", *rows])
    return "\n\n".join(filter(None, [f"### `{record.__name__}`", markdown(about), table]))


def _error(error: type[Exception]) -> str:
    types = attributes(error).items()
    base = error.__bases__[0].__name__
    place = error.__module__.split(".")[1] if error.__module__ != "leaseq.errors" else ""
    name = f"{place}.{error.__name__}" if place else error.__name__
    return _row(f"`{name}`", f"`{base}`", ", ".join(f"`{name}: {kind}`" for name, kind in types))


def _literals() -> Iterator[str]:
    for module in (models, events, policy):
        source = inspect.getsource(module)
        body = ast.parse(source).body
        for node, next_node in zip(body, [*body[1:], None], strict=True):
            name = _target_name(node)
            values = get_args(getattr(module, name, None)) if name in leaseq.__all__ else ()
            texts = [
                text for value in values for text in (get_args(value) or (value,)) if isinstance(text, str)
            ]
            if texts:
                yield _row(f"`{name}`", ", ".join(f"`{text}`" for text in texts), _string_of(next_node))


def _target_name(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(markdown(cell).replace("|", r"\|") for cell in cells) + " |"


def markdown(text: str) -> str:
    """The Markdown of a docstring's or comment's text."""
    return re.sub(r"``(.+?)``", r"`\1`", text)
