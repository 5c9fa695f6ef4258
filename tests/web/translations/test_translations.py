"""The other language is whole: every text that a page says has its translation, and the pages use it."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_from_file
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po
from flask import Flask

from leaseq.policy import FIELDS, GROUPS
from leaseq.policy_fields import OneOf
from leaseq.webapp.i18n import COOKIE, LANGUAGES
from tests.web.conftest import Browser

ROOT = Path(__file__).parents[3]
TRANSLATED = sorted(set(LANGUAGES) - {"en"})
PLACES = re.compile(r"%\((\w+)\)[a-z]")


def folder(language: str) -> Path:
    return ROOT / "webapp/translations" / language / "LC_MESSAGES"


def catalog(language: str) -> Catalog:
    with (folder(language) / "messages.po").open("rb") as file:
        return read_po(file, locale=language)


def said() -> Iterator[Any]:
    """What the pages say: texts, and tuples of one and many."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]["mappings"]
    method_map = [(one["pattern"], one["method"]) for one in table]
    for _, _, text, _, _ in extract_from_dir(ROOT / "webapp", method_map):
        yield text
    for _, text, _, _ in extract_from_file("python", ROOT / "leaseq/policy.py"):
        yield text


def texts(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def test_there_is_another_language() -> None:
    assert TRANSLATED == ["de"]


def test_what_is_said_of_the_policy_is_gathered() -> None:
    """Pages show these texts by variables, so they are marked where they are defined."""
    gathered = set(said())
    assert {*GROUPS.values()} <= gathered
    for field in FIELDS.values():
        kind, about = field.kind, field.about
        texts = {about.label, about.help, about.none} | {getattr(kind, "unit", "")}
        texts |= set(kind.choices.values()) if isinstance(kind, OneOf) else set()
        assert texts - {""} <= gathered, field.name


@pytest.mark.parametrize("language", TRANSLATED)
def test_everything_is_translated(language: str) -> None:
    known = catalog(language)
    missing = {
        text
        for text in said()
        if (translation := known.get(text)) is None or translation.fuzzy or not all(texts(translation))
    }
    assert not missing, "run ./dev translate, and translate these"


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_is_filled_in_is_the_same(language: str) -> None:
    for message in catalog(language):
        if message.id:
            wanted = set(PLACES.findall(message.id if isinstance(message.id, str) else message.id[1]))
            for text in texts(message)[-1:]:
                assert set(PLACES.findall(text)) == wanted, message.id


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    compiled = io.BytesIO()
    write_mo(compiled, catalog(language))
    with (folder(language) / "messages.mo").open("rb") as file:
        there = read_mo(file)
    compiled.seek(0)
    wanted = read_mo(compiled)
    pairs = [[(str(m.id), m.string) for m in one if m.id] for one in (there, wanted)]
    assert pairs[0] == pairs[1], "run ./dev translate"


def test_a_page_speaks_the_language_that_the_browser_asks_for(app: Flask) -> None:
    visitor = Browser(app, "nobody")
    assert '<html lang="de">' in visitor.get("/login", headers={"Accept-Language": "de-AT, en;q=0.5"}).text
    assert '<html lang="en">' in visitor.get("/login", headers={"Accept-Language": "fr"}).text


def test_who_chose_a_language_gets_it(app: Flask) -> None:
    visitor = Browser(app, "nobody")
    visitor.client.set_cookie(COOKIE, "de")
    assert '<html lang="de">' in visitor.get("/login", headers={"Accept-Language": "en"}).text
