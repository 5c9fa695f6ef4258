"""Each module of the product is used: it is imported, directly or not, by an entry point or a public name."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# What programs import, what gunicorn's command line names, and what Alembic finds by its path.
ENTRY_MODULES = {
    # Imported by other programs.
    "leaseq.agents.langgraph",
    "leaseq.agents.openai_agents",
    "leaseq.agents.pydantic_ai",
    "leaseq.quality",
    "leaseq.remote",
    "leaseq",
    "leaseq.__main__",
    "leaseq.webapp.serving.gunicorn_conf",
    "leaseq.webapp.wsgi",
    "leaseq.bridge.migrations.env",
    *(
        f"leaseq.bridge.migrations.versions.{path.stem}"
        for path in (ROOT / "leaseq" / "bridge" / "migrations" / "versions").glob("v*.py")
    ),
}


def modules() -> dict[str, Path]:
    paths = {}
    for folder, package in (("leaseq", "leaseq"), ("webapp", "leaseq.webapp")):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            paths[".".join([package, *parts]).removesuffix(".__init__")] = path
    return paths


def names_in(path: Path) -> Iterator[str]:
    """The names that a file imports, or that its strings may contain, such as ``leaseq.cli.stats:stats``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.partition(":")[0]


def test_each_module_is_used() -> None:
    paths = modules()
    entry_points = (PROJECT["scripts"], *PROJECT["entry-points"].values())
    names = ENTRY_MODULES | {entry.partition(":")[0] for group in entry_points for entry in group.values()}
    reached_modules: set[str] = set()
    while names:
        name = names.pop()
        while name and name not in paths:  # a name in a module counts as the module
            name = name.rpartition(".")[0]
        if name in paths and name not in reached_modules:
            reached_modules.add(name)
            names.update(names_in(paths[name]))
            names.add(name.rpartition(".")[0])
    assert set(paths) - reached_modules == set()
