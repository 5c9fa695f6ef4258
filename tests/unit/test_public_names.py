"""What other programs may build on is what docs/developer.md lists."""

from __future__ import annotations

import re
from pathlib import Path

import leaseq

PAGE = (Path(__file__).parents[2] / "docs" / "developer.md").read_text()
SECTION = re.search(r"^## All public names\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_lists_exactly_the_names_of_the_package() -> None:
    assert SECTION is not None
    listed = re.findall(r"`([A-Za-z_]+)`", "\n".join(re.findall(r"^\| (`.*?) \|", SECTION[1], re.MULTILINE)))
    assert len(listed) == len(set(listed)), "each is in one row"
    assert set(listed) == set(leaseq.__all__)


def test_each_name_is_there() -> None:
    assert [name for name in leaseq.__all__ if not hasattr(leaseq, name)] == []


def test_all_of_a_client_but_a_few_names_is_internal() -> None:
    client = leaseq.connect("redis://localhost:6379/0")
    public = {name for name in dir(client) if not name.startswith("_")}
    assert public == {"ask", "close", "closed", "ping", "redis", "translating", "url"}
