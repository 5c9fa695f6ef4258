"""Each layer imports only layers below it (CONTRIBUTING.md lists them), and folders have no import cycles.

A component is a direct member of a package: a folder, or a module next to the folders.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import leaseq
from leaseq import backup, doctor, followers, policy_fields, simulation, transfer, webhooks

ROOT = Path(__file__).parents[2]
BASE = "base"  # the modules of leaseq/ next to its folders; they count as one component

# From the lowest. A folder that is in no layer is refused.
LEASEQ_LAYERS: tuple[set[str], ...] = (
    {"sentences"},  # the texts of errors
    {BASE, "form"},
    {"engine"},
    {"queue"},
    {"aio", "followers"},
    {
        "agents",
        "worker",
        "transfer",
        "webhooks",
        "doctor",
        "server",
        "quality",
        "simulation",
        "bridge",
        "backup",
    },
    {"cli", "__main__"},
)
SERVICES = {"services"}  # each verb of the views, once
VIEWS = {"auth", "work", "manage", "people", "api", "docs", "monitoring", "webhooks"}
WEBAPP_TOP = {"app", "wsgi", "commands"}  # everything else in webapp/ is shared by the services and views

REDIS_CLIENTS = {"engine", "doctor"}

# `leaseq up` runs the embedded server, and all commands look alike: these may be used in addition.
COMMAND_PREFIXES = ("leaseq.cli.common.", "leaseq.server.")

# What other programs may use: the package's names, those of import and export, and simulated people.
PUBLIC_NAMES = {"leaseq", "leaseq.sentences", "leaseq.simulation", "leaseq.transfer", "leaseq.webhooks"} | {
    f"{package.__name__}.{name}"
    for package in (
        leaseq,
        backup,
        doctor,
        followers,
        leaseq.form,
        leaseq.names,
        leaseq.form.passages,
        leaseq.sentences,
        policy_fields,
        leaseq.validation,
        simulation,
        transfer,
        webhooks,
    )
    for name in getattr(package, "__all__", vars(package))
    if not name.startswith("_")
}
PUBLIC_NAMES |= {"leaseq.policy.FIELDS", "leaseq.policy.GROUPS"}  # what settings pages are made from

LEASEQ_FILES, WEBAPP_FILES = (sorted((ROOT / folder).rglob("*.py")) for folder in ("leaseq", "webapp"))
PYTHON_FILES = [*LEASEQ_FILES, *WEBAPP_FILES]
# A package's __init__ imports its public names from all layers.
PACKAGES = {ROOT / "leaseq" / "__init__.py", ROOT / "webapp" / "__init__.py"}
INNER_FILES = [path for path in PYTHON_FILES if path not in PACKAGES]


def relative_path(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def imported_names(path: Path) -> list[str]:
    """Each imported name in full (``leaseq.queue.Queue``, ``redis``), including imports inside functions.
    ``leaseq.webapp``, as it is installed, is called ``webapp`` here, like its folder."""
    return list(_imported_names(path))


def _imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative_path(path)}: write imports in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            assert name.partition(".")[0] != "webapp", f"{relative_path(path)}: import leaseq.webapp instead"
            yield name.removeprefix("leaseq.") if f"{name}.".startswith("leaseq.webapp.") else name


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def component(path: Path) -> str:
    package, entry = path.relative_to(ROOT).parts[:2]
    name = entry.removesuffix(".py")
    is_folder = entry == name
    return name if is_folder or package == "webapp" or name == "__main__" else BASE


def imported_components(path: Path) -> Iterator[str]:
    """The components of the file's own package that it imports."""
    folder = ROOT / package_of(path)
    for name in imported_names(path):
        package, _, rest = name.partition(".")
        if package != folder.name:
            continue
        module = rest.partition(".")[0]
        if (folder / module).is_dir() and module:
            yield module
        elif (folder / f"{module}.py").is_file():
            yield module if package == "webapp" else BASE
        else:  # a public name of the package itself: the importer depends on the component that defines it
            yield "app" if package == "webapp" else "queue"


def layer_of(package: str, name: str) -> int:
    if package == "webapp":
        upper_layers = enumerate((SERVICES, VIEWS, WEBAPP_TOP), 1)
        return next((number for number, names in upper_layers if name in names), 0)
    layers = [number for number, components in enumerate(LEASEQ_LAYERS) if name in components]
    assert layers, f"leaseq/{name} is in no layer: add it to one in tests/meta/test_layers.py"
    return layers[0]


def test_modules_import_no_higher_layer() -> None:
    for path in INNER_FILES:
        package, own_component = package_of(path), component(path)
        for imported_component in imported_components(path):
            assert layer_of(package, imported_component) <= layer_of(package, own_component), (
                f"{relative_path(path)} imports {package}/{imported_component}, which is in a higher layer"
            )
            assert own_component not in LEASEQ_LAYERS[-1] or imported_component != "engine", (
                f"{relative_path(path)} bypasses leaseq/queue"
            )


@pytest.mark.parametrize("package", ["leaseq", "webapp"])
def test_folders_have_no_import_cycle(package: str) -> None:
    imports_by_component: dict[str, set[str]] = {}
    for path in INNER_FILES:
        if package_of(path) == package:
            imports_by_component.setdefault(component(path), set()).update(
                set(imported_components(path)) - {component(path)}
            )
    try:
        TopologicalSorter(imports_by_component).prepare()
    except CycleError as error:
        pytest.fail(f"an import cycle in {package}/: {' imports '.join(reversed(error.args[1]))}")


@pytest.mark.parametrize(
    "path", [p for p in PYTHON_FILES if p.is_relative_to(ROOT / "webapp" / "store")], ids=relative_path
)
def test_store_imports_nothing_else_of_webapp(path: Path) -> None:
    assert set(imported_components(path)) - {"store"} == set()


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_modules_have_no_import_cycle() -> None:
    """Nor by imports in functions, or for types only."""
    modules = {module_name(path): path for path in PYTHON_FILES}
    imports_by_module: dict[str, set[str]] = {}
    for module, path in modules.items():
        names = {name if name in modules else name.rpartition(".")[0] for name in imported_names(path)}
        imports_by_module[module] = (names & modules.keys()) - {module}
    try:
        TopologicalSorter(imports_by_module).prepare()
    except CycleError as error:
        pytest.fail(f"an import cycle: {' imports '.join(reversed(error.args[1]))}")


def test_layers_list_only_existing_folders() -> None:
    names = set.union(*LEASEQ_LAYERS) - {BASE}
    assert {name for name in names if not any((ROOT / "leaseq").glob(f"{name}*"))} == set()
    assert {
        name for name in SERVICES | VIEWS | WEBAPP_TOP if not any((ROOT / "webapp").glob(f"{name}*"))
    } == set()


def test_web_and_redis_packages_are_imported_only_in_allowed_layers() -> None:
    for path in LEASEQ_FILES:
        packages = {name.partition(".")[0] for name in imported_names(path)}
        web_packages = packages & {"webapp", "flask", "gunicorn", "pydantic", "werkzeug"}
        if relative_path(path) == "leaseq/agents/mcp.py":  # its package describes tools with pydantic
            web_packages -= {"pydantic"}
        assert not web_packages, f"{relative_path(path)} imports {web_packages}"
        if component(path) not in REDIS_CLIENTS:
            assert "redis" not in packages, f"{relative_path(path)} uses redis-py and not the engine"


def test_webapp_uses_public_names_only() -> None:
    for path in WEBAPP_FILES:
        is_command = path.is_relative_to(ROOT / "webapp" / "commands")
        for name in imported_names(path):
            if name.partition(".")[0] == "leaseq" and name not in PUBLIC_NAMES:
                is_allowed = is_command and name.startswith(COMMAND_PREFIXES)
                assert is_allowed, f"{relative_path(path)} imports {name}: not a public name of leaseq"


def test_queue_keys_are_spelled_only_in_keys_module() -> None:
    with_key = [relative_path(path) for path in LEASEQ_FILES if "leaseq:{" in path.read_text()]
    assert with_key == ["leaseq/engine/keys.py"]
    for path in WEBAPP_FILES:  # it has its own keys, under tags that can't be a queue's name
        text = path.read_text()
        assert text.count("leaseq:{") == text.count("leaseq:{@"), relative_path(path)


def test_each_key_tag_of_webapp_is_spelled_in_one_module() -> None:
    places: dict[str, set[str]] = {}
    for path in PYTHON_FILES:
        for tag in re.findall(r"leaseq:\{(@\w+)", path.read_text()):
            places.setdefault(tag, set()).add(relative_path(path))
    assert places.pop("@accounts") == {"webapp/store/accounts/model.py"}
    assert {tag: paths for tag, paths in places.items() if len(paths) > 1} == {}
