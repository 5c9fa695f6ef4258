"""Everything accepted can be read back: writing and reading JSON have the same limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaseq.errors import Invalid, TooLarge
from leaseq.validation import MAX_CONTAINERS, MAX_INTEGER_DIGITS, dump_json, load_json
from tests.support.refused import refused

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a{}[]"é', max_size=3),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.text("a{é", max_size=2) | st.integers(0, 9), below, max_size=3)
    ),
    max_leaves=6,
)
LONGEST = 10**MAX_INTEGER_DIGITS - 1


@pytest.mark.parametrize(
    "value",
    [
        {1: "a"},
        {1: "a", "1": "b"},
        {None: 1},
        {True: 1},
        {1.5: 1},
        {"a": {"b": [{"c": 1}, {2: 3}]}},
        [{"a": "{"}, {2: 3}],
        ({7: 1},),
        dict.fromkeys(["a", *range(1_000)]),
    ],
)
def test_non_text_key_is_refused(value: Any) -> None:
    with refused("json", "result", what="text_keys") as error:
        dump_json(value, "result")
    assert error.value.field == "result"


def keys(value: Any) -> list[Any]:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*(value if isinstance(value, dict) else ()), *(key for node in below for key in keys(node))]


@given(ANY)
def test_value_is_accepted_only_if_all_its_keys_are_text(value: Any) -> None:
    """The check has shortcuts for short values, flat values and values without objects."""
    if all(isinstance(key, str) for key in keys(value)):
        assert load_json(dump_json(value, "result")) == value
    else:
        with refused("json", what="text_keys"):
            dump_json(value, "result")


def test_long_key_is_shortened_in_the_error() -> None:
    with pytest.raises(Invalid) as error:
        dump_json({("x" * 10_000,): 1, 5: 1}, "result")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("length", range(0, 160, 7))
@pytest.mark.guard("integer-digits")
def test_integer_limit_is_the_same_for_reading_and_writing(sign: int, length: int) -> None:
    """The position of the number in the text does not matter."""
    allowed_value = [{"a": "x" * length, "n": sign * LONGEST}]
    assert load_json(dump_json(allowed_value, "result")) == allowed_value
    too_large_value = [{"a": "x" * length, "n": sign * (LONGEST + 1)}]
    with refused("maximum", "result", what="json_digits", maximum=MAX_INTEGER_DIGITS) as error:
        dump_json(too_large_value, "result")
    assert error.value.field == "result"
    with refused("maximum", "body", what="json_digits", maximum=MAX_INTEGER_DIGITS):
        load_json(f'[{{"n":{sign * (LONGEST + 1)}}}]')


@pytest.mark.parametrize(
    "value",
    [
        {"digits": "9" * 5_000},
        {"9" * 5_000: 1},
        list(range(100_000, 130_000)),
        {"a": 0.1 + 0.2, "b": [1e308, -5e-324]},
        {"": {"{": "}"}},
    ],
)
def test_valid_value_resembling_an_invalid_value_round_trips(value: Any) -> None:
    assert load_json(dump_json(value, "result")) == value


def test_more_arrays_than_a_payload_has_room_for_are_refused_before_they_are_read() -> None:
    arrays = "[" + "[]," * MAX_CONTAINERS + "[]]"
    with pytest.raises(TooLarge):
        load_json(arrays)
    text = "[{" * MAX_CONTAINERS
    assert load_json(f'["a \\" {text}", []]') == [f'a " {text}', []], "text may have any number of brackets"
    largest = "[" + "[]," * (262_140 // 3) + "1]"
    assert load_json(dump_json(load_json(largest), "payload")) == load_json(largest)
