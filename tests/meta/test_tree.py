"""A view's templates, static files and tests are in folders with the view's name."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
WEBAPP = ROOT / "webapp"
TEMPLATES, STATIC = WEBAPP / "templates", WEBAPP / "static"
SHARED = "shared"  # for files shared by several views
MAX_LINES, MAX_MODULES = 500, 14
TEST_FOLDERS = {"unit", "conformance", "faults", "web", "browser", "meta", "support", "tools"}


def folders(path: Path) -> set[str]:
    return {folder.name for folder in path.iterdir() if folder.is_dir() and any(file_names(folder))}


def file_names(path: Path) -> set[str]:
    files = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    return {file.as_posix() for file in files if "__pycache__" not in file.parts}


def views() -> set[str]:
    """The packages that create a blueprint."""
    blueprint_files = (path for path in WEBAPP.rglob("*.py") if re.search(r"Blueprint\(", path.read_text()))
    return {path.relative_to(WEBAPP).parts[0] for path in blueprint_files}


def test_folders_of_tests_mirror_leaseq_or_are_listed() -> None:
    assert folders(ROOT / "tests") - folders(ROOT / "leaseq") - TEST_FOLDERS == set()


def test_modules_and_folders_stay_readable() -> None:
    """A module is a subject, a folder one that is seen at a glance: redesign what gets larger."""
    modules = [path for package in ("leaseq", "webapp") for path in (ROOT / package).rglob("*.py")]
    lines = {path: path.read_text().count("\n") for path in modules}
    long_modules = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MAX_LINES}
    in_folder = Counter(str(path.parent.relative_to(ROOT)) for path in modules)
    assert (long_modules, {name: n for name, n in in_folder.items() if n > MAX_MODULES}) == ({}, {})


def test_web_test_folders_mirror_webapp_folders() -> None:
    tests = ROOT / "tests" / "web"
    assert folders(tests) - folders(WEBAPP) == set(), "no such folder in webapp/"
    module_names = {path.name.removeprefix("test_") for path in tests.glob("test_*.py")}
    assert module_names - {path.name for path in WEBAPP.glob("*.py")} == set(), (
        "no such module next to the folders of webapp/"
    )


def test_each_view_has_tests() -> None:
    assert views() - folders(ROOT / "tests" / "web") == set()


@pytest.mark.parametrize(("folder", "loose_files"), [(TEMPLATES, {"base.html"}), (STATIC, set[str]())])
def test_templates_and_static_files_are_in_folders_of_views(folder: Path, loose_files: set[str]) -> None:
    assert folders(folder) - views() - {SHARED} == set(), "no such view"
    assert {path.name for path in folder.iterdir() if path.is_file()} == loose_files


def test_referenced_templates_equal_existing_templates() -> None:
    sources = [*WEBAPP.rglob("*.py"), *TEMPLATES.rglob("*.html")]
    names = {name for path in sources for name in re.findall(r'"([\w/-]+\.html)"', path.read_text())}
    assert names == file_names(TEMPLATES)


def test_referenced_static_files_equal_existing_static_files() -> None:
    names = {
        name
        for path in TEMPLATES.rglob("*.html")
        for names in re.findall(
            r"url_for\('static', filename='([^']+)'|\"([\w/-]+\.(?:css|js))\"", path.read_text()
        )
        for name in names
        if name
    }
    for path in STATIC.rglob("*.js"):
        for name in re.findall(r'^import .*?"([^"]+)";$', path.read_text(), re.MULTILINE | re.DOTALL):
            assert name.startswith("."), f"{path.name} imports {name}"
            names.add(PurePosixPath((path.parent / name).resolve().relative_to(STATIC)).as_posix())
    assert names == file_names(STATIC)
