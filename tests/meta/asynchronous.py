"""Generates the coroutines of `leaseq.aio` from the functions of `leaseq`.

``python -m tests.meta.asynchronous`` generates each module of SOURCES into the folder ``aio`` next to it: its
functions that call the server, with ``async`` and ``await``. Everything else is imported from the module
itself. What they call is written by hand, with the same names, in leaseq/engine and in
leaseq/engine/aio (docs/decisions/0028-asyncio.md).
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (
    "leaseq/engine/durability.py",
    "leaseq/engine/closed_transport.py",
    "leaseq/engine/connection.py",
    "leaseq/engine/commands.py",
    "leaseq/engine/server_marker.py",
    "leaseq/queue/listing.py",
    "leaseq/queue/base.py",
    "leaseq/queue/producer.py",
    "leaseq/queue/reserving.py",
    "leaseq/queue/consumer.py",
    "leaseq/queue/inspection.py",
    "leaseq/queue/late_answers.py",
    "leaseq/queue/admin.py",
    "leaseq/queue/following.py",
    "leaseq/queue/restoring.py",
    "leaseq/queue/deleting.py",
    "leaseq/queue/erasing.py",
)
AIO_FILES = [(ROOT / source).parent / "aio" / Path(source).name for source in SOURCES]
HEAD = '''"""{docstring}

Made of {source} by ``python -m tests.meta.asynchronous``; not to be edited.
"""
# ruff: noqa: E501

'''
NO_LIMIT = "# ruff: noqa: E501\n"  # to a line's length, for joined strings
# By module: the names written by hand in leaseq/engine/aio, which are imported from there.
HANDWRITTEN_NAMES = {
    "leaseq.engine.client": {"Client", "check_client", "connection_of"},
    "leaseq.engine.iterables": {"each"},
    "leaseq.engine.notifications": {"Listener", "wait_for"},
    "leaseq.engine.transport": {"Transport", "transport_of"},
    "leaseq.queue.related_data": {"delete_related_data"},
}
# Awaited are calls of these names, of parameters with these names, and of functions that await one.
AWAITED_CALLS = {
    "send_packed_command",
    "read_response",
    "send",
    "load",
    "reset",
    "drop_idle",
    "ask",
    "ask_all",
}
AWAITED_CALLS |= {"replicas", "close", "end", "join", "wait_for", "scan", "delete_related_data"}
AWAITED_PARAMETERS = {"ask", "replicas", "send", "attempt", "move"}
RECEIVERS = {"self", "_commands", "_connection", "_transport", "transport", "connection", "server"}
RECEIVERS |= {"listener", "marker"}
ASYNC_ITERATORS = {"each"}  # iterated by `async for`
# Methods that must run to their end even if the task is cancelled.
UNCANCELLABLE = {"_leave_line"}
REPLACEMENTS = (
    (r"\bIterator\b(?!\[None\])", "AsyncIterator"),
    (r"(?<=items: )Iterable\[Json \| NewItem\]", "Iterable[Json | NewItem] | AsyncIterable[Json | NewItem]"),
    (r"\ba threading\b", "an asyncio"),
    (r"\bthreading\b", "asyncio"),
)
IMPORTS = """
import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable
from leaseq.engine.aio.links import run_to_end
"""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Names:
    """The functions that await, and those of them that yield."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.coroutines, self.iterators, self.properties = (
            set(AWAITED_CALLS),
            set(ASYNC_ITERATORS),
            set[str](),
        )
        # Functions that are not methods.
        self._functions = AWAITED_CALLS | ASYNC_ITERATORS | AWAITED_PARAMETERS
        functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, Function)]
        classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
        self._methods = {id(member) for node in classes for member in node.body}
        count = -1
        while count < len(self.coroutines) + len(self.iterators):
            count = len(self.coroutines) + len(self.iterators)
            for function in functions:
                if self.awaits(function):
                    self._add(function)

    def _add(self, function: Function) -> None:
        if id(function) not in self._methods:
            self._functions.add(function.name)
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function)):
            self.iterators.add(function.name)
        elif any(
            isinstance(decorator, ast.Name) and decorator.id == "property"
            for decorator in function.decorator_list
        ):
            self.properties.add(function.name)
        else:
            self.coroutines.add(function.name)

    def awaits(self, function: Function) -> bool:
        if _is_empty(function):  # an overload, or a part of a protocol
            return function.name in self.coroutines
        return any(
            self.is_awaited(node) or self.is_iterated(node) or self.is_property(node)
            for node in _own_nodes(function)
        )

    def is_awaited(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self._calls_one_of(node.func, self.coroutines)

    def is_iterated(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and self._calls_one_of(node.iter.func, self.iterators)
        )

    def is_property(self, node: ast.AST) -> bool:
        is_attribute = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return is_attribute and node.value.id == "self" and node.attr in self.properties  # type: ignore[attr-defined]

    def _calls_one_of(self, function: ast.expr, names: set[str]) -> bool:
        if isinstance(function, ast.Name):
            return function.id in self._functions and function.id in names | AWAITED_PARAMETERS
        if not isinstance(function, ast.Attribute) or function.attr not in names:
            return False
        receiver = function.value
        if isinstance(receiver, ast.Call):
            return isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
        return (
            receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
        ) in RECEIVERS


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of the function itself, without its inner functions."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            stack += [node.func.value, *node.args, *node.keywords]  # the name of a call is not a property
        elif not isinstance(node, Function | ast.Lambda):
            stack += ast.iter_child_nodes(node)


def _is_empty(function: Function) -> bool:
    return ast.unparse(function.body[-1]) == "..."


class AsyncTransformer(ast.NodeTransformer):
    """Puts ``async`` and ``await`` where they belong."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        awaits = self._names.awaits(node)
        self.generic_visit(node)
        for argument in (*node.args.args, *node.args.posonlyargs):
            if argument.arg in AWAITED_PARAMETERS and argument.annotation is not None:
                text = re.sub(r", (\w+)\]$", r", Awaitable[\1]]", ast.unparse(argument.annotation))
                argument.annotation = ast.parse(text, mode="eval").body
        return ast.AsyncFunctionDef(**vars(node)) if awaits else node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        if isinstance(node.body, ast.Call):  # it returns the coroutine to its caller, who awaits it
            self.generic_visit(node.body)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_awaited = self._names.is_awaited(node)
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(argument) for argument in node.keywords]
        if is_awaited and isinstance(node.func, ast.Attribute) and node.func.attr in UNCANCELLABLE:
            node = ast.Call(ast.Name("run_to_end"), [node], [])
        return ast.Await(node) if is_awaited else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_property = self._names.is_property(node)
        self.generic_visit(node)
        return ast.Await(node) if is_property else node

    def visit_For(self, node: ast.For) -> ast.AST:
        is_iterated = self._names.is_iterated(node)
        self.generic_visit(node)
        return ast.AsyncFor(**vars(node)) if is_iterated else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.YieldFrom):  # a coroutine can't contain it
            yield_statement = ast.Expr(ast.Yield(ast.Name("one")))
            return ast.For(ast.Name("one"), node.value.value, [yield_statement], [])
        return node


def generate() -> dict[Path, str]:
    """Return the text of each generated file."""
    trees = {source: ast.parse((ROOT / source).read_text()) for source in SOURCES}
    names = Names(list(trees.values()))
    async_names = {
        _module_name(source): {node.name for node in _async_definitions(tree, names)}
        for source, tree in trees.items()
    }
    return {
        _aio_path(source): _generate_module(source, tree, names, {**HANDWRITTEN_NAMES, **async_names})
        for source, tree in trees.items()
    }


def _async_definitions(tree: ast.Module, names: Names) -> Iterator[ast.ClassDef | Function]:
    """The classes and functions of a module that await."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | Function):
            functions = (function for function in ast.walk(node) if isinstance(function, Function))
            if any(names.awaits(function) for function in functions):
                yield node


def _generate_module(source: str, tree: ast.Module, names: Names, async_names: dict[str, set[str]]) -> str:
    module = _module_name(source)
    imports, own_names = [], set[str]()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            imports += [_import_line(node.module or "", alias, async_names) for alias in node.names]
        elif isinstance(node, ast.Import):
            imports.append(ast.unparse(node))
        elif isinstance(node, ast.ClassDef | Function):
            own_names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own_names |= {target.id for target in targets if isinstance(target, ast.Name)}
    imports += [f"from {module} import {name}" for name in sorted(own_names - async_names[module])]
    body = "\n\n\n".join(
        ast.unparse(ast.fix_missing_locations(AsyncTransformer(names).visit(node)))
        for node in _async_definitions(tree, names)
    )
    for pattern, replacement in REPLACEMENTS:
        body = re.sub(pattern, replacement, body)
    head = HEAD.format(docstring=ast.get_docstring(tree), source=source)
    future = "from __future__ import annotations\n"
    import_lines = "\n".join(line for line in imports if "__future__" not in line)
    text = _tidy(f"{head}{future}{IMPORTS}{import_lines}\n\n\n{body}\n", _aio_path(source))
    return text if any(len(line) > 110 for line in text.splitlines()) else text.replace(NO_LIMIT, "")


def _import_line(module: str, alias: ast.alias, async_names: dict[str, set[str]]) -> str:
    """Import from the folder ``aio`` if the name awaits something."""
    if alias.name in async_names.get(module, ()):
        module = _aio_module(module)
    if f"{module}.{alias.name}" in async_names:  # a whole module
        module = _aio_module(f"{module}.x").removesuffix(".x")
    return f"from {module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")


def _module_name(source: str) -> str:
    return source.removesuffix(".py").replace("/", ".")


def _aio_module(module: str) -> str:
    package, _, name = module.rpartition(".")
    return f"{package}.aio.{name}"


def _aio_path(source: str) -> Path:
    path = ROOT / source
    return path.parent / "aio" / path.name


def _tidy(text: str, path: Path) -> str:
    for command in ("check --select F401,F811,I --fix --quiet --exit-zero", "format"):
        ruff = [sys.executable, "-m", "ruff", *command.split(), "--stdin-filename", str(path), "-"]
        text = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True, cwd=ROOT).stdout
    return text


if __name__ == "__main__":
    for path, text in generate().items():
        path.write_text(text)
