"""Each verb is in a service: views parse and render, and a service logs what it changes."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.security.authorization import need_of

WEBAPP = Path(__file__).parents[3] / "webapp"
VIEWS = ("api", "auth", "docs", "manage", "monitoring", "people", "webhooks", "work")
VIEW_FILES = sorted(path for folder in VIEWS for path in (WEBAPP / folder).rglob("*.py"))
SERVICES = {path.stem: ast.parse(path.read_text()) for path in (WEBAPP / "services").glob("[!_]*.py")}

READING = set(
    re.findall(
        r"\w+",
        "alerts answers by_due decision decisions event_rows exists find find_policy get history items "
        "journal late_items late_page latest_events mine outcome_rows outcomes page person_items stats "
        "stopped waiting_rows why_nothing",
    )
)
"""The methods of a queue that change nothing; all others count as writing."""
WRITING = {
    name for name, _ in inspect.getmembers(leaseq.Queue, inspect.isfunction) if not name.startswith("_")
} - READING
SHARED_WORDS = frozenset({"add", "ask", "change", "clear", "delete", "follow", "remove", "restore"})
"""Names that other objects have, too: they count if the object is a queue by its name."""

# The audit log, the day's figures and the rows of a file.
OTHER_WRITES = re.compile(
    r"^note$|\b(import_items|log\.(write|add|note)|activity\.(record|subtract)|breaks\.end_soon)$"
)

NOT_LOGGED = frozenset(
    {
        "api.ask",
        "api.cancel_question",
        "api.enqueue",
        "manage.access_matches",
        "manage.apply_template",
        "manage.check_file",
        "manage.check_new_queue",
        "manage.choose_columns",
        "manage.confirm_bulk",
        "manage.confirm_late",
        "manage.export_items",
        "manage.plan_import",
        "manage.plan_new_queue",
        "manage.preview_file",
        "manage.preview_new_queue",
        "manage.preview_settings",
        "manage.remove_view",
        "manage.save_view",
    }
)
"""Managers' routes without an entry in the audit log: what programs add, ask or take back is in the queue's
journal, item by item; the others change nothing, or only the look of lists."""


def service_names(tree: ast.Module) -> set[str]:
    """The names under which a module has the services, and functions of theirs."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("leaseq.webapp.services"):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def writes(tree: ast.Module) -> Iterator[str]:
    """The calls of a module that belong into a service."""
    services = service_names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if OTHER_WRITES.search(called):
            yield called
        elif isinstance(node.func, ast.Attribute) and node.func.attr in WRITING:
            receiver = ast.unparse(node.func.value)
            is_queue = re.search(r"queue$", re.sub(r"\(.*\)$", "", receiver), re.IGNORECASE)
            if receiver not in services and (is_queue or node.func.attr not in SHARED_WORDS):
                yield called


@pytest.mark.parametrize("path", VIEW_FILES, ids=lambda path: str(path.relative_to(WEBAPP)))
def test_views_change_queues_only_through_services(path: Path) -> None:
    assert list(writes(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    "source",
    [
        "existing_queue(q).finish(id=id, token=token)",
        "queue.remove(id)",
        "leaseq.Queue(state().client, name).delete()",
        "send(lambda result, form: self.queue.correct(id, token, result, by=name))",
        "state().activity.record(name, q, 'finished', id=id, token=token)",
        "accounts().log.write(name, 'item.revived', id)",
        "accounts().log.note(name, 'item.revived', id)",
        "note('item.revived', id)",
        "transfer.import_items(queue, rows)",
    ],
)
def test_planted_changes_in_views_are_found(source: str) -> None:
    assert len(list(writes(ast.parse(source)))) == 1


def test_services_and_other_objects_may_be_called() -> None:
    source = (
        "from leaseq.webapp.services import items\nitems.remove(queue, id)\nnames.remove(id)\nqueue.get(id)"
    )
    assert list(writes(ast.parse(source))) == []


def called_names(node: ast.AST) -> set[str]:
    return {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}


def reached(name: str, functions: dict[str, ast.FunctionDef]) -> set[str]:
    """What a function calls, also through other functions of its module."""
    calls: set[str] = set()
    waiting, seen = [name], {name}
    while waiting:
        new_calls = called_names(functions[waiting.pop()])
        calls |= new_calls
        next_names = (new_calls & functions.keys()) - seen
        seen |= next_names
        waiting += next_names
    return calls


def changing_routes(app: Flask) -> dict[str, Callable[..., object]]:
    """Managers' routes that may change something."""
    return {
        rule.endpoint: app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if need_of(app, rule.endpoint) == "manager"
        and (rule.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}
    }


def logs(service: str, name: str) -> bool:
    """Whether a function of a service writes to the audit log."""
    functions = {one.name: one for one in SERVICES[service].body if isinstance(one, ast.FunctionDef)}
    if name not in functions:
        return False
    calls = reached(name, functions)
    imported = {
        (node.module or "").rpartition(".")[2]: {alias.name for alias in node.names}
        for node in SERVICES[service].body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("leaseq.webapp.services.")
    }
    return any(OTHER_WRITES.search(call) for call in calls if "log" in call or call == "note") or any(
        logs(other, one) for other, names in imported.items() for one in names & calls
    )


def test_every_change_of_a_manager_is_logged(app: Flask) -> None:
    """A view calls a service that writes to the log, itself or through functions of its package."""
    unlogged = set()
    for endpoint, view in changing_routes(app).items():
        view_file = Path(inspect.getsourcefile(inspect.unwrap(view)) or "")
        functions: dict[str, ast.FunctionDef] = {}
        services: dict[str, str] = {}
        for path in (view_file.parent).glob("*.py"):
            tree = ast.parse(path.read_text())
            functions |= {
                one.name: one
                for one in tree.body
                if isinstance(one, ast.FunctionDef) and (path == view_file or one.name not in functions)
            }
            for node in tree.body:
                if isinstance(node, ast.ImportFrom) and node.module == "leaseq.webapp.services":
                    services |= {alias.asname or alias.name: alias.name for alias in node.names}
        called = (call.partition(".") for call in reached(inspect.unwrap(view).__name__, functions))
        if not any(logs(services[module], name) for module, _, name in called if module in services):
            unlogged.add(endpoint)
    assert unlogged == NOT_LOGGED
