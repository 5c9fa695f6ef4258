"""Prints the page of the public types, made from the code: ``python -m tests.meta.docs.types_table``."""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args

import leaseq
from leaseq import backup, events, models, policy, transfer, webhooks

PAGE = """# Types

The fields of what the library takes and returns. Times are aware `datetime`s in UTC. The types are frozen
dataclasses, or named tuples where it says so. `Policy` has a page of its own, [policy.md](policy.md); what
each call does is in [developer.md](developer.md). This page is made from the code.

{modules}

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
        modules="\n\n".join(_module(*one) for one in _MODULES), literals="\n".join(_literals())
    )


def records(module: ModuleType) -> list[type[Any]]:
    """The public types of a module that have fields, by name."""
    exported: list[str] = module.__all__
    names = [
        name for name in exported if name != "Policy" and (module is leaseq or name not in leaseq.__all__)
    ]
    there = (getattr(module, name) for name in names)
    return [one for one in there if isinstance(one, type) and _is_record(one)]


def fields(record: type[Any]) -> dict[str, tuple[str, str]]:
    """The type and the meaning of each field, from the source."""
    source = textwrap.dedent(inspect.getsource(record))
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    comments = _comments(source)
    found = {}
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            said = [comments[line] for line in lines if line in comments]
            meaning = _text_of(after) or " ".join(said)
            found[node.target.id] = (ast.unparse(node.annotation), meaning)
        elif isinstance(node, ast.FunctionDef) and _is_property(node):
            assert node.returns is not None
            found[node.name] = (ast.unparse(node.returns), ast.get_docstring(node) or "")
    return found


def _is_record(one: type[Any]) -> bool:
    if issubclass(one, Exception) or one is leaseq.PolicyChanges:
        return False
    return hasattr(one, "__dataclass_fields__") or hasattr(one, "_fields") or hasattr(one, "__total__")


def _is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def _text_of(node: ast.stmt | None) -> str:
    """A string that stands by itself, as it explains the field before it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {one.start[0]: one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT}


def _module(module: ModuleType, name: str) -> str:
    return "\n\n".join([f"## `{name}`", *map(_record, records(module))])


def _record(record: type[Any]) -> str:
    kind = "A named tuple. " if hasattr(record, "_fields") else ""
    about = inspect.cleandoc(record.__doc__ or "")
    about = "" if about.startswith(f"{record.__name__}(") else kind + about  # a dataclass's is made by Python
    rows = [_row(f"`{name}`", f"`{kind}`", what) for name, (kind, what) in fields(record).items()]
    table = "\n".join(["| field | type | what |", "|---|---|---|", *rows])
    return "\n\n".join(filter(None, [f"### `{record.__name__}`", _markdown(about), table]))


def _literals() -> Iterator[str]:
    for module in (models, events, policy):
        source = inspect.getsource(module)
        body = ast.parse(source).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            name = _assigned(node)
            values = get_args(getattr(module, name, None)) if name in leaseq.__all__ else ()
            flat = [text for one in values for text in (get_args(one) or (one,)) if isinstance(text, str)]
            if flat:
                yield _row(f"`{name}`", ", ".join(f"`{text}`" for text in flat), _text_of(after))


def _assigned(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(_markdown(cell).replace("|", r"\|") for cell in cells) + " |"


def _markdown(text: str) -> str:
    return re.sub(r"``(.+?)``", r"`\1`", text)


if __name__ == "__main__":
    print(page(), end="")
