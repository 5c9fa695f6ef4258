"""Every rule has a sentence, and every place that raises it gives the values of that sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import leaseq
import leaseq.webapp
from leaseq import Invalid, sentences
from leaseq.sentences import RULES, placeholders

_FOLDERS = [Path(module.__path__[0]).resolve() for module in (leaseq, leaseq.webapp)]
_FILES = [path for root in _FOLDERS for path in sorted(root.rglob("*.py")) if path.name != "sentences.py"]
_RULE_PLACES = {
    "Invalid": 1,
    "TooLarge": 1,
    "AddressRefused": 1,
    "Ambiguous": 1,
    "WindowConflict": 1,
    "__init__": 1,
    "of": 2,
    "tell": 0,
}
"""Where in a call of this name the rule is."""


def calls() -> Iterator[tuple[str, str, set[str]]]:
    """Each call that names a rule: its place, the rule, and the names of its values."""
    for path in _FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = _RULE_PLACES.get(name)
            if place is None or len(node.args) <= place or any(one.arg is None for one in node.keywords):
                continue
            values = {str(one.arg) for one in node.keywords} - {"errors", "field"}
            rule = node.args[place]
            for one in (rule.body, rule.orelse) if isinstance(rule, ast.IfExp) else (rule,):
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield f"{path}:{node.lineno}", one.value, values


def test_each_place_names_a_rule_and_its_values() -> None:
    wrong: list[tuple[str, str, set[str]]] = []
    for place, rule, values in calls():
        if rule not in RULES:
            wrong.append((place, rule, values))
            continue
        texts = RULES[rule]
        required = placeholders(texts.sentence) | placeholders(texts.expected)
        optional = [placeholders(texts.got), placeholders(texts.advice)]
        known = required.union(*optional)
        halves = [one for one in optional if (one - required) & values and not one <= values]
        if not required <= values <= known or halves:
            wrong.append((place, rule, values))
    assert wrong == []


def test_each_rule_is_used() -> None:
    source = "\n".join(path.read_text() for path in _FILES)
    assert [rule for rule in RULES if f'"{rule}"' not in source] == []


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
    error = Invalid("f", "type", type="x", kind=object())
    assert isinstance(error.values["kind"], str)
    assert len(Invalid("f", "json", why="x" * 5_000).values["why"]) <= 1_000
    assert error.at("g").field == "g"
    assert error.field == "f"
