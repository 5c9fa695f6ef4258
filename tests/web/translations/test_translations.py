"""The translations are complete, and the pages use them."""

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
OTHER_LANGUAGES = sorted(set(LANGUAGES) - {"en"})
PLACEHOLDERS = re.compile(r"%\((\w+)\)[a-z]")


def folder_of(language: str) -> Path:
    return ROOT / "webapp/translations" / language / "LC_MESSAGES"


def catalog(language: str) -> Catalog:
    with (folder_of(language) / "messages.po").open("rb") as file:
        return read_po(file, locale=language)


def extract_texts() -> Iterator[Any]:
    """The texts of pages, with tuples for singular and plural."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]["mappings"]
    method_map = [(mapping["pattern"], mapping["method"]) for mapping in mappings]
    for _, _, text, _, _ in extract_from_dir(ROOT / "webapp", method_map):
        yield text
    for _, text, _, _ in extract_from_file("python", ROOT / "leaseq/policy.py"):
        yield text


def strings_of(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def test_german_is_available() -> None:
    assert OTHER_LANGUAGES == ["de"]


def test_policy_texts_are_extracted_for_translation() -> None:
    """Pages show these texts through variables, so they are marked where they are defined."""
    page_texts = set(extract_texts())
    assert {*GROUPS.values()} <= page_texts
    for field in FIELDS.values():
        kind = field.kind
        texts = {field.label, field.help, field.none} | {getattr(kind, "unit", "")}
        texts |= set(kind.choices.values()) if isinstance(kind, OneOf) else set()
        assert texts - {""} <= page_texts, field.name


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_every_page_text_is_translated(language: str) -> None:
    translations = catalog(language)
    missing = {
        text
        for text in extract_texts()
        if (translation := translations.get(text)) is None
        or translation.fuzzy
        or not all(strings_of(translation))
    }
    assert not missing, "run ./dev translate, and translate these"


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_translations_keep_placeholders(language: str) -> None:
    for message in catalog(language):
        if message.id:
            expected = set(PLACEHOLDERS.findall(message.id if isinstance(message.id, str) else message.id[1]))
            for text in strings_of(message)[-1:]:
                assert set(PLACEHOLDERS.findall(text)) == expected, message.id


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_compiled_catalog_matches_source_catalog(language: str) -> None:
    buffer = io.BytesIO()
    write_mo(buffer, catalog(language))
    with (folder_of(language) / "messages.mo").open("rb") as file:
        stored_catalog = read_mo(file)
    buffer.seek(0)
    compiled_catalog = read_mo(buffer)
    pairs = [
        [(str(m.id), m.string) for m in entries if m.id] for entries in (stored_catalog, compiled_catalog)
    ]
    assert pairs[0] == pairs[1], "run ./dev translate"


def test_page_uses_language_requested_by_browser(app: Flask) -> None:
    browser = Browser(app, "nobody")
    assert '<html lang="de">' in browser.get("/login", headers={"Accept-Language": "de-AT, en;q=0.5"}).text
    assert '<html lang="en">' in browser.get("/login", headers={"Accept-Language": "fr"}).text


def test_language_cookie_overrides_browser_language(app: Flask) -> None:
    browser = Browser(app, "nobody")
    browser.client.set_cookie(COOKIE, "de")
    assert '<html lang="de">' in browser.get("/login", headers={"Accept-Language": "en"}).text
