"""The generated parts of the page about a queue's keys: the grammars of the stored strings (headers of
``lua/lib``) and the names of the policy's text fields."""

from __future__ import annotations

import re
from pathlib import Path

from leaseq.policy import FIELDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/inspecting.md"
_PLACEHOLDER = re.compile(r"(<!-- from lua/lib/(\w+)\.lua -->\n)(?:```text\n.*?\n```\n)?", re.DOTALL)
_FIELD_NAMES = re.compile(r"^- .*(?=: the rest of the policy, as JSON\.$)", re.MULTILINE)


def header(name: str) -> str:
    """The header comment of a file, which explains its strings."""
    text = (ROOT / "lua/lib" / f"{name}.lua").read_text(encoding="utf-8")
    match = re.search(r"^--\[\[ (.*?) ?\]\]$", text, re.MULTILINE | re.DOTALL)
    assert match, f"lua/lib/{name}.lua has a header in --[[ ]]"
    return match[1].strip()


def header_names() -> set[str]:
    """The files of ``lua/lib`` that have such a header."""
    return {path.stem for path in (ROOT / "lua/lib").glob("*.lua") if "\n--[[ " in f"\n{path.read_text()}"}


def fill_in(page: str) -> str:
    names = ", ".join(f"`{name}`" for name, field in FIELDS.items() if field.storage == "text")
    page = _FIELD_NAMES.sub(f"- {names}", page)
    return _PLACEHOLDER.sub(lambda match: f"{match[1]}```text\n{header(match[2])}\n```\n", page)


def placeholder_names(page: str) -> list[str]:
    return [name for _, name in _PLACEHOLDER.findall(page)]
