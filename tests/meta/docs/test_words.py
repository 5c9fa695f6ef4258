"""Docs, page texts and source contain no phrase that was replaced by a plain one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = ROOT / "webapp/translations/de/LC_MESSAGES/messages.po"
SOURCES = [
    path
    for folder in ("leaseq", "webapp", "lua", "tests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".lua", ".js", ".html", ".css"} and path != Path(__file__)
]
COINED_WORDS = r"who(m)?ever|\bof whom\b|\bhow-manieth\b|\bit is all one\b"
REPLACED_PHRASES = (
    COINED_WORDS,
    r"\bgoes? ahead of (those|what) (that )?never left\b",  # returns to the front of the queue
    r"\bmade-up (people|person)\b",  # simulated
    r"\b(turned away|told to come again)\b",  # refused
    r"\bsecond step\b",  # two-factor sign-in
    r"\bis not (done|taken) here\b",  # not allowed, not supported
    r"\b(looks?|looked) after (leaseq|the place|this place)\b|\bruns this place\b",  # the operator, an admin
    r"\bthe same again\b|\bfor good, answers\b",  # repeat; deletes, with its answers
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_doc_page_contains_no_replaced_phrase(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert find_replaced_phrases(prose) == []


def test_page_texts_contain_no_replaced_phrase() -> None:
    with TEXTS.open("rb") as file:
        texts = [message.id for message in read_po(file)]
    assert (
        find_replaced_phrases("\n".join(text if isinstance(text, str) else "\n".join(text) for text in texts))
        == []
    )


def test_source_contains_no_coined_words() -> None:
    lines = ((path, line) for path in SOURCES for line in path.read_text().splitlines())
    coined_lines = [
        (path.relative_to(ROOT), line) for path, line in lines if re.search(COINED_WORDS, line, re.IGNORECASE)
    ]
    assert coined_lines == []


def find_replaced_phrases(text: str) -> list[str]:
    return [match[0] for phrase in REPLACED_PHRASES for match in re.finditer(phrase, text, re.IGNORECASE)]
