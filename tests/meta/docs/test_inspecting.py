"""docs/inspecting.md names everything that the scripts write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import leaseq
from leaseq.engine.keys import Keys, _Key
from leaseq.engine.scripts import SCRIPTS
from leaseq.policy import TEXTS
from tools.docs import grammars

PAGE = (Path(__file__).parents[3] / "docs/inspecting.md").read_text()
LUA = "\n".join(script.source for script in SCRIPTS.values())


def section(title: str) -> str:
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert match, title
    return match[1]


def letters() -> set[str]:
    """The letters that may follow the time in an item's head."""
    return _letters("items", "LETTERS")


def marks() -> set[str]:
    """The marks that may follow the attempt in a grant."""
    return _letters("grants", "MARKS")


def _letters(codec: str, table: str) -> set[str]:
    source = (Path(leaseq.__file__).parents[1] / "lua/lib" / f"{codec}.lua").read_text()
    (letters,) = re.findall(rf"^local {table} = '(\w+)'", source, re.MULTILINE)
    return set(letters)


def events() -> set[str]:
    note_calls = re.findall(r"journal\.note\((.*)$", LUA, re.MULTILINE)
    event_names = {name for call in note_calls for name in re.findall(r"'([a-z.]+)'", call.partition(",")[0])}
    return {*event_names, *re.findall(r"'XADD', keys\.journal, .*?'([a-z]+)'", LUA)}


def ledger_fields() -> set[str]:
    write_arguments = re.findall(r"'H(?:SET|INCRBY)', (?:keys\.ledger|LEDGER), (.*)$", LUA, re.MULTILINE)
    listed_fields = re.findall(r"fields\[#fields \+ 1\].* = '(\w+)', ", LUA)
    literal_fields = {
        name for fields in write_arguments for name in re.findall(r"'(\w+:?)'(?: \.\.|, |\))", fields)
    }
    return {*TEXTS, *listed_fields, *literal_fields}


def key_parts() -> set[str]:
    script_keys = re.findall(r"\bkeys\.(\w+)", LUA)
    declared_keys = {name for name, value in vars(Keys).items() if isinstance(value, _Key)}
    return {*script_keys, *declared_keys, *(key for script in SCRIPTS.values() for key in script.keys)}


def test_parsers_find_known_letters_events_fields_and_keys() -> None:
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
        "alert.raised",
        "alert.resolved",
    }
    assert ledger_fields() >= {
        "status",
        "rules",
        "p:",
        "g:",
        "n:",
        "woken",
        "mixed",
        "form",
        "raised",
        "idle",
    }
    assert key_parts() >= {"ledger", "seen", "later", "wake", "relations", "journal"}


def test_page_has_a_place_for_each_grammar() -> None:
    assert sorted(grammars.placeholder_names(PAGE)) == sorted(grammars.header_names())


@pytest.mark.parametrize("letter", sorted(letters()))
def test_each_letter_of_item_head_is_documented(letter: str) -> None:
    assert re.search(rf"[|=] ?{letter} \w|letter +{letter} ", grammars.header("items"))


@pytest.mark.parametrize("mark", sorted(marks()))
def test_each_mark_of_grant_is_documented(mark: str) -> None:
    assert re.search(rf"(\||letter ) ?{mark} \w", grammars.header("grants"))


@pytest.mark.parametrize("event", sorted(events()))
def test_each_journal_event_is_documented(event: str) -> None:
    assert f"`{event}`" in section("What happened")


@pytest.mark.parametrize("part", sorted(key_parts()))
def test_each_key_is_documented(part: str) -> None:
    assert re.search(rf"`leaseq:\{{reviews\}}:{part}[`:]", PAGE)


@pytest.mark.parametrize("field", sorted(ledger_fields()))
def test_each_ledger_field_is_documented(field: str) -> None:
    pattern = rf"{field}\w+" if field.endswith(":") else field
    assert re.search(rf"[`\"]{pattern}[`\"]", PAGE)
