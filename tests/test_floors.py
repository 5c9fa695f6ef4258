"""Each floor imports only floors below it (CONTRIBUTING.md draws them)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq import doctor, transfer

ROOT = Path(__file__).parents[1]

GROUND = {
    "errors",
    "model",
    "strict",
    "policy",
    "keys",
    "ids",
    "form",
    "schema_size",
    "names",
    "lookalikes",
    "digest",
}
ENGINE = {
    "arguments",
    "connection",
    "durable",
    "links",
    "moves",
    "scripts",
    "records",
    "urls",
    "waiting",
    "watched",
    "queue",
}
AROUND = {
    "worker",
    "renewing",
    "transfer",
    "embedded",
    "supervisor",
    "datadir",
    "simulate",
    "plausible",
    "bench",
    "doctor",
}
TOP = {"cli", "__main__"}
FLOORS = (GROUND, ENGINE, AROUND, TOP)

# Two rooms of the house that are built on the outside world, each known to its own floor only.
REDIS_CLIENTS = ENGINE | {"bench", "doctor"}

# `leaseq up` runs the embedded server, and a command looks like its sisters: they may use these besides.
FOR_COMMANDS = {"leaseq.cli.common", "leaseq.datadir", "leaseq.embedded", "leaseq.supervisor"}

# What other programs may build on: the package's names, and those of import and export.
PUBLIC = {"leaseq", "leaseq.transfer"} | {
    f"{package.__name__}.{name}"
    for package in (leaseq, doctor, leaseq.form, leaseq.names, leaseq.strict, transfer)
    for name in getattr(package, "__all__", vars(package))
    if not name.startswith("_")
}

PYTHON = sorted(path for folder in ("leaseq", "webapp") for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[str]:
    """Each imported name in full: ``leaseq.queue.Queue``, ``redis``. Those inside functions count as well."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)}: imports are written in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(path: Path) -> str:
    """The room that a file of leaseq is in: ``queue``, or ``cli`` for all that lies in that folder."""
    return path.relative_to(ROOT / "leaseq").parts[0].removesuffix(".py")


def floor_of(name: str) -> int:
    found = [number for number, rooms in enumerate(FLOORS) if name in rooms]
    assert found, f"leaseq/{name} is on no floor: add it to one in tests/test_floors.py"
    return found[0]


def rooms_imported(path: Path) -> Iterator[str]:
    for name in imports(path):
        package, _, rest = name.partition(".")
        if package != "leaseq":
            continue
        first = rest.partition(".")[0]
        if (ROOT / "leaseq" / first).is_dir() or (ROOT / "leaseq" / f"{first}.py").is_file():
            yield first
        else:  # a public name, from the package itself: whoever imports it needs the whole engine
            yield "queue"


@pytest.mark.parametrize("path", [p for p in PYTHON if p.is_relative_to(ROOT / "leaseq")], ids=relative)
def test_leaseq_imports_downwards(path: Path) -> None:
    if path == ROOT / "leaseq" / "__init__.py":
        return
    own = floor_of(room(path))
    for other in rooms_imported(path):
        if room(path) == other:
            continue
        assert floor_of(other) <= own, f"{relative(path)} imports leaseq.{other}, which is on a floor above"
    if room(path) in TOP:
        assert not {"keys", "scripts", "moves", "records"} & set(rooms_imported(path)), relative(path)


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_only_webapp_knows_the_web(path: Path) -> None:
    packages = {name.partition(".")[0] for name in imports(path)}
    if path.is_relative_to(ROOT / "leaseq"):
        assert not packages & {"webapp", "flask", "gunicorn", "pydantic", "werkzeug"}
        if room(path) not in REDIS_CLIENTS:
            assert "redis" not in packages, f"{relative(path)} speaks to redis-py past the engine"


@pytest.mark.parametrize("path", [p for p in PYTHON if p.is_relative_to(ROOT / "webapp")], ids=relative)
def test_webapp_uses_public_names_only(path: Path) -> None:
    commands = FOR_COMMANDS if path.is_relative_to(ROOT / "webapp" / "commands") else set()
    for name in imports(path):
        if name.partition(".")[0] == "leaseq" and name not in PUBLIC:
            assert name.rpartition(".")[0] in commands, (
                f"{relative(path)} imports {name}, no public name of leaseq"
            )


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_only_keys_spells_a_queues_key(path: Path) -> None:
    spelled = "leaseq:{" in path.read_text()
    if path.is_relative_to(ROOT / "leaseq"):
        assert not spelled or path.name == "keys.py", f"{relative(path)} spells a key: keys.py does that"
    else:  # accounts keep their own, under a tag that can be no queue's name
        assert path.read_text().count("leaseq:{") == path.read_text().count("leaseq:{@"), relative(path)
