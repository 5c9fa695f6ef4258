"""The public names are exactly those that docs/library.md lists."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

import leaseq

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text()
SECTION = re.search(r"^## All public names\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_lists_exactly_the_names_of_the_package() -> None:
    assert SECTION is not None
    listed_names = re.findall(
        r"`([A-Za-z_]+)`", "\n".join(re.findall(r"^\| (`.*?) \|", SECTION[1], re.MULTILINE))
    )
    assert len(listed_names) == len(set(listed_names)), "each name is in one row"
    assert set(listed_names) == set(leaseq.__all__)


def test_dir_of_the_package_lists_only_public_names() -> None:
    assert [name for name in dir(leaseq) if not name.startswith("_")] == sorted(leaseq.__all__)
    bound_names = {name for name in vars(leaseq) if not name.startswith("_")}
    modules = {name for name, value in vars(leaseq).items() if inspect.ismodule(value)}
    assert bound_names - modules <= {*leaseq.__all__, "TYPE_CHECKING", "annotations"}, (
        "names that type checkers find statically"
    )


def test_version_equals_the_version_in_pyproject() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert leaseq.__version__ == project["version"]


def test_each_public_name_exists() -> None:
    assert [name for name in leaseq.__all__ if not hasattr(leaseq, name)] == []


def test_client_has_only_the_listed_public_attributes() -> None:
    client = leaseq.connect("redis://localhost:6379/0")
    public = {name for name in dir(client) if not name.startswith("_")}
    assert public == {"ask", "close", "closed", "ping", "redis", "translating", "url"}
