"""Each field of the policy has a complete description, and can be read back from its stored form."""

from __future__ import annotations

from typing import Any, cast, get_args

import pytest

import leaseq
from leaseq.errors import Invalid
from leaseq.policy import FIELDS, GROUPS, RULES, TEXTS, parse_rules, rule_defaults
from tests.support.policy_values import OTHER_VALUES
from tests.support.refused import raises


@pytest.mark.parametrize("name", FIELDS)
def test_field_has_a_complete_description(name: str) -> None:
    field = FIELDS[name]
    assert field.group in GROUPS
    assert field.label
    assert field.help.endswith(".")
    assert "\n" not in field.help
    assert (type(None) in get_args(field.type)) <= bool(field.none)
    assert field.check(field.default) == field.default
    assert (None in (field.default, field.check(None))) if field.none else (field.default is not None)


@pytest.mark.parametrize("name", FIELDS)
def test_value_is_the_same_after_dump_and_load(name: str) -> None:
    field = FIELDS[name]
    values = [field.default, OTHER_VALUES[name], *([None] if field.none else [])]
    for value in values:
        word = field.dump(value)
        assert field.check(field.load(word)) == value
        if name not in TEXTS:
            assert word
            assert " " not in word


@pytest.mark.parametrize("name", sorted({*FIELDS} - {"form"}))
def test_invalid_value_is_refused_with_name_of_the_field(name: str) -> None:
    with pytest.raises(Invalid) as error:
        leaseq.Policy(**cast("Any", {name: object()}))
    assert error.value.field == name
    assert error.value.limit
    if not FIELDS[name].none:
        with pytest.raises(Invalid) as error:
            leaseq.Policy(**{name: None})  # type: ignore[arg-type]
        assert error.value.field == name


def test_rules_are_parsed_in_any_order() -> None:
    expected = {name: OTHER_VALUES[name] for name in RULES}
    words = [f"{name}={FIELDS[name].dump(value)}" for name, value in expected.items()]
    assert parse_rules(" ".join(words).encode()) == expected
    assert parse_rules(" ".join(reversed(words)).encode()) == expected


def test_stored_line_of_rules_is_parsed() -> None:
    line = b"holds=2 bands=50,150 renewals=- share_drafts=true retry_seconds=0.5"
    rules = parse_rules(line)
    assert rules == {
        "holds": 2,
        "bands": (50, 150),
        "renewals": None,
        "share_drafts": True,
        "retry_seconds": 0.5,
    }
    assert leaseq.Policy(**rules).answers == 1, "a missing field has its default"
    assert parse_rules(b"") == {}


def test_rule_defaults_equal_those_of_a_new_policy() -> None:
    defaults = rule_defaults()
    assert set(defaults) == set(RULES)
    assert (
        leaseq.Policy(**parse_rules(" ".join(f"{n}={w}" for n, w in defaults.items()).encode()))
        == leaseq.Policy()
    )
    assert (defaults["bands"], defaults["renewals"], defaults["holds"]) == ("50,150", "-", "1")


@pytest.mark.parametrize(
    "word",
    [
        "from_a_newer_version=5",
        "holds=many",
        "holds=1000",
        "bands=1",
        "bands=1,2,3",
        "holds",
        "holds=-",
        "title=x",
        "=",
        "\xff",
    ],
)
def test_unknown_rule_is_refused_with_advice_to_upgrade(word: str) -> None:
    with raises(leaseq.ServerRefused, "newer") as error:
        parse_rules(f"holds=2 {word} answers=3".encode("latin-1"))
    assert word.isascii() is (repr(word) in str(error.value))


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_explained_in_whole_sentences(name: str) -> None:
    for limits in (True, False):
        text = FIELDS[name].explain("null", limits=limits)
        assert text.endswith(".")
        assert " ." not in text
        assert ".." not in text
