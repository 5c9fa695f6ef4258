"""The audit log in words: each act that the web app records has a sentence, and each detail a label, also in
German."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.pofile import read_po

from leaseq.webapp.people import log

WEBAPP = Path(__file__).parents[2] / "webapp"
SOURCES = [
    ast.parse(path.read_text())
    for folder in ("services", "store/accounts")
    for path in sorted((WEBAPP / folder).glob("*.py"))
]
ACT = re.compile(rf"(?:{'|'.join(log.KINDS)})\.[a-z-]+")
WRITERS = {"note", "_notify", "_log", "_logged"}
OPTIONS = {"by", "detail"}  # keywords of these calls that are no details


def calls() -> Iterator[ast.Call]:
    """The calls that write to the audit log."""
    for node in (node for source in SOURCES for node in ast.walk(source)):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            if function.rpartition(".")[2] in WRITERS or re.search(r"log\.(write|add)$", function):
                yield node


def constants(node: ast.AST) -> list[Any]:
    return [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]


def acts() -> set[str]:
    found = {
        value
        for source in SOURCES
        for value in constants(source)
        if isinstance(value, str) and ACT.fullmatch(value)
    }
    for call in calls():  # of the verbs of items, which name only the act
        if ast.unparse(call.func) in ("_log", "_logged") and isinstance(call.args[0], ast.Constant):
            found.add(f"item.{call.args[0].value!s}")
    for node in (node for source in SOURCES for node in ast.walk(source)):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_LOGGED":
            assert isinstance(node.value, ast.Dict)
            found |= {f"item.{value}" for entry in node.value.values for value in constants(entry)}
    return found


def test_each_act_has_a_sentence_and_each_detail_a_label() -> None:
    assert len(acts()) > 50
    assert acts() == set(log.SENTENCES)
    assert set(log.OWN_SENTENCES) <= set(log.SENTENCES)
    names = {keyword.arg for call in calls() for keyword in call.keywords if keyword.arg} - OPTIONS
    assert len(names) > 15
    assert names - {"changes"} - log.HIDDEN <= set(log.DETAILS)


def test_each_sentence_and_label_has_german() -> None:
    with (WEBAPP / "translations/de/LC_MESSAGES/messages.po").open("rb") as file:
        german = read_po(file, locale="de")
    texts = [
        *log.SENTENCES.values(),
        *log.OWN_SENTENCES.values(),
        *log.FORM_CHANGES.values(),
        *(label for name, (label, _write) in log.DETAILS.items() if name != "text"),
    ]
    placeholders = re.compile(r"%\(\w+\)s")
    for english in map(str, texts):  # outside a request, nothing is translated
        message = german.get(english)
        assert message, english
        assert message.string, english
        assert set(placeholders.findall(str(message.string))) == set(placeholders.findall(english)), english
