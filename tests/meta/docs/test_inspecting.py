"""The page for who looks into a queue by hand names all that the scripts write, and can't fall behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.commands import SCRIPTS
from leaseq.engine.keys import Keys
from leaseq.policy import TEXTS

PAGE = (Path(__file__).parents[3] / "docs/inspecting.md").read_text()
LUA = "\n".join(path.read_text() for path in (Path(leaseq.__file__).parents[1] / "lua").rglob("*.lua"))


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def letters() -> set[str]:
    """What follows the time in an item's head."""
    heads = re.findall(r"^local HEAD = \{ (.*?) \}$", LUA, re.MULTILINE)
    assert len(heads) == 1
    return set(re.findall(r"'(\w)'", heads[0]))


def marks() -> set[str]:
    """What follows the attempt in a grant."""
    found = re.findall(r"^local MARKS = \{ (.*?) \}$", LUA, re.MULTILINE)
    assert len(found) == 1
    return set(re.findall(r"'(\w)'", found[0]))


def events() -> set[str]:
    by_name = re.findall(r"\b(?:note|moved)\('(\w+)'", LUA)
    entries = re.findall(r"'XADD', JOURNAL, (.*)$", LUA, re.MULTILINE)
    return {*by_name, *(what for entry in entries for what in re.findall(r"'([a-z]+)'", entry))}


def ledger_fields() -> set[str]:
    written = re.findall(r"call\('H(?:SET|INCRBY)', LEDGER, (.*)$", LUA, re.MULTILINE)
    return {*TEXTS, *(name for fields in written for name in re.findall(r"'(\w+:?)'(?: \.\.|, |\))", fields))}


def key_parts() -> set[str]:
    derived = re.findall(r"(?:string\.sub\(LEDGER, 1, -7\)|QUEUE) \.\. '(\w+):?'", LUA)
    declared = {name for name, value in vars(Keys).items() if hasattr(value, "func")}
    return {*derived, *declared, *(key for script in SCRIPTS.values() for key in script.keys)}


def test_what_is_looked_for_is_found() -> None:
    assert letters() >= set("afmpdrosw")
    assert marks() >= set("xnqwd")
    assert events() >= {
        "enqueued",
        "reserved",
        "finished",
        "expired",
        "assigned",
        "adopted",
        "created",
        "paused",
    }
    assert ledger_fields() >= {"status", "rules", "p:", "g:", "n:", "line", "mixed", "form"}
    assert key_parts() >= {"ledger", "seen", "later", "wake", "bars", "journal"}


@pytest.mark.parametrize("letter", sorted(letters()))
def test_each_letter_of_a_head(letter: str) -> None:
    assert f"`{letter}` " in section("One item")


@pytest.mark.parametrize("mark", sorted(marks()))
def test_each_mark_of_a_grant(mark: str) -> None:
    assert f"`{mark}` " in section("Who holds what, and until when")


@pytest.mark.parametrize("event", sorted(events()))
def test_each_event_of_the_journal(event: str) -> None:
    assert f"`{event}`" in section("What happened")


@pytest.mark.parametrize("part", sorted(key_parts()))
def test_each_key(part: str) -> None:
    assert re.search(rf"`leaseq:\{{reviews\}}:{part}[`:]", PAGE)


@pytest.mark.parametrize("field", sorted(ledger_fields()))
def test_each_field_of_the_ledger(field: str) -> None:
    named = rf"{field}\w+" if field.endswith(":") else field
    assert re.search(rf"[`\"]{named}[`\"]", PAGE)
