"""Every rule has a sentence, and every place that raises it gives the values of that sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import leaseq
import leaseq.webapp
from leaseq import Invalid, sentences
from leaseq.sentences import RULES, rule_of
from leaseq.sentences.library import ANSWERS
from leaseq.sentences.rule import placeholders

_FOLDERS = [Path(module.__path__[0]).resolve() for module in (leaseq, leaseq.webapp)]
_FILES = [path for root in _FOLDERS for path in sorted(root.rglob("*.py")) if path.parent.name != "sentences"]
_RULE_PLACES = {
    "Invalid": 1,
    "TooLarge": 1,
    "AddressRefused": 1,
    "Ambiguous": 1,
    "WindowConflict": 1,
    "ServerUnavailable": 0,
    "ServerRefused": 0,
    "QueueUnreadable": 0,
    "__init__": 1,
    "of": 2,
    "tell": 0,
}
"""Where in a call of this name the rule is."""


PLAIN = {"Problem", "Forbidden", "Unauthorized", "NotAcceptable", "UnsupportedMediaType"}


def choices(node: ast.expr | None) -> list[str]:
    """The texts that an expression may have."""
    if isinstance(node, ast.IfExp):
        return choices(node.body) + choices(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def calls() -> Iterator[tuple[str, str, str, set[str]]]:
    """Each call that names a rule: its place, the rule, its kind if that stands there, and its values."""
    for path in _FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = _RULE_PLACES.get(name)
            if place is None or len(node.args) <= place or any(one.arg is None for one in node.keywords):
                continue
            values = {
                str(one.arg): one.value
                for one in node.keywords
                if one.arg not in ("errors", "field", "members", "taken")
            }
            what = values.pop("what", None)
            for rule, kind in product(choices(node.args[place]), choices(what) or ("",)):
                if what is None or kind:
                    yield f"{path}:{node.lineno}", rule, kind, set(values)


def test_each_place_names_a_rule_and_its_values() -> None:
    wrong: list[tuple[str, str, str, set[str]]] = []
    for place, name, what, values in calls():
        try:
            rule = rule_of(name, {"what": what})
        except KeyError:
            wrong.append((place, name, what, values))
            continue
        required = placeholders(rule.sentence) | placeholders(rule.expected)
        optional = [placeholders(text) for text in rule.texts]
        known = required.union(*optional)
        halves = {
            name
            for name in (known - required) & values
            if not any(name in names and names <= values for names in optional)
        }
        if not required <= values <= known or halves:
            wrong.append((place, name, what, values))
    assert wrong == []


def test_each_rule_is_used() -> None:
    source = "\n".join(path.read_text() for path in _FILES)
    names = {
        name for rule, group in RULES.items() for name in (rule, *(group if isinstance(group, dict) else ()))
    }
    assert [name for name in names if f'"{name}"' not in source and name not in ANSWERS] == []


def test_unknown_rule_and_missing_value_are_errors() -> None:
    with pytest.raises(KeyError):
        Invalid("name", "no-such-rule")
    with pytest.raises(KeyError):
        Invalid("name", "range", minimum=1)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"value": 5}, "n: expected a whole number from 1 to 1,000, got the number 5"),
        ({"value": "x"}, "n: expected a whole number from 1 to 1,000, got 'x'"),
        ({"value": None}, "n: expected a whole number from 1 to 1,000, got null"),
        ({"value": [1]}, "n: expected a whole number from 1 to 1,000, got the array [1]"),
        ({}, "n: expected a whole number from 1 to 1,000"),
    ],
)
def test_sentence_says_what_was_expected_and_what_came(values: dict[str, Any], text: str) -> None:
    error = Invalid("n", "range", minimum=1, maximum=1_000, **values)
    assert str(error) == text
    assert error.limit == "a whole number from 1 to 1,000"
    assert error.values == {"minimum": 1, "maximum": 1_000, **values}


def test_advice_is_left_out_without_its_value() -> None:
    values = {"choices": ["new", "old"], "value": "nwe"}
    assert sentences.advice("one_of", {**values, "near": "new"}) == "did you mean new?"
    assert sentences.advice("one_of", {**values, "near": None}) == ""


def test_values_are_json_and_short() -> None:
    error = Invalid("f", "type", what="filter", kind=object())
    assert isinstance(error.values["kind"], str)
    assert len(Invalid("f", "request", why="x" * 5_000).values["why"]) <= 1_000
    assert error.at("g").field == "g"
    assert error.field == "f"


def test_no_problem_is_made_of_a_plain_text() -> None:
    """Only errors of the library and of HTTP itself, which have a rule of their own if they have one."""
    plain = [
        f"{path}:{node.lineno}"
        for path in _FILES
        if path.name not in ("errors.py", "openapi.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in PLAIN
    ]
    assert plain == []
