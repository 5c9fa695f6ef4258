"""Numbers as people type and read them, in the language of the page.

``3,5`` is a number in every language, since it can be read in one way only. ``1.234`` is a number in English;
in German it may be 1,234 or 1234, so the person is asked which they mean.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

from babel.numbers import format_decimal, get_decimal_symbol
from flask_babel import get_locale

from leaseq import Invalid, validation

_LONGEST = 400  # characters; JSON has whole numbers of at most 308 digits
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_MARKS = _FULL_WIDTH | str.maketrans(
    {
        "٫": ".",  # the Arabic decimal separator
        "٬": "'",  # the Arabic thousands separator
        "،": ",",
        "。": ".",
        "｡": ".",
        "、": ",",
        "’": "'",
        "−": "-",
        "–": "-",
        "\u200e": None,  # marks of the direction of writing
        "\u200f": None,
        "\u061c": None,
    }
)
_NUMBER = re.compile(r"([+-]?) ?([\d.,' ]+)(?:[eE]([+-]?\d+))?", re.ASCII)
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,' ])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}", re.ASCII)
"""Digits with thousands separators, also as in India: 12,34,567."""


class Ambiguous(Invalid):
    """A text that may mean one of two numbers."""


def read_number(text: str, field: str, *, whole: bool = False) -> int | float:
    """The number in a text, in any script's digits. Raises Invalid if it is none, or may be one of two."""
    readings = (_stored(reading, field, whole) for reading in _readings(text))
    numbers = list(dict.fromkeys(number for number in readings if number is not None))
    if not numbers:
        raise Invalid(field, "typed_whole" if whole else "typed_number")
    if len(numbers) > 1:
        first, second = map(number_text, numbers)
        raise Ambiguous(field, "ambiguous", first=first, second=second)
    return numbers[0]


def whole_number_in(text: str, field: str) -> int | None:
    """The whole number from 0 in a text; None if it is none. Raises Ambiguous."""
    try:
        number = int(read_number(text, field, whole=True))
    except Ambiguous:
        raise
    except Invalid:
        return None
    return number if number >= 0 else None


def number_text(number: float) -> str:
    """A number as the text of an input: with the decimal separator of the language, without others."""
    return validation.dump_json(number, "number").replace(".", _decimal_separator())


def shown_number(number: float) -> str:
    """A number to read: with thousands separators and all its decimals."""
    return str(format_decimal(Decimal(repr(number)), locale=get_locale(), decimal_quantization=False))


def _decimal_separator() -> str:
    return str(get_decimal_symbol(get_locale() or "en"))


def _readings(text: str) -> Iterator[str]:
    """The numbers that a text may mean, in the spelling of JSON."""
    match = _NUMBER.fullmatch(_plain(text)) if len(text) <= _LONGEST else None
    if match is None:
        return
    sign, digits, exponent = match[1].replace("+", ""), match[2].strip(), f"e{match[3]}" if match[3] else ""
    is_whole = digits.isdecimal() or _GROUPED.fullmatch(digits) is not None
    for separator in ".,":
        before, _separator, after = digits.partition(separator)
        if separator in digits and _is_decimal(before, after):
            is_whole = is_whole and separator != _decimal_separator()
            decimals = f".{after}" if after else ""
            yield f"{sign}{_joined(before)}{decimals}{exponent}"
    if is_whole:
        yield f"{sign}{_joined(digits)}{exponent}"


def _is_decimal(before: str, after: str) -> bool:
    """Whether these are the two sides of a decimal separator."""
    is_grouped = _GROUPED.fullmatch(before) is not None
    has_digits = bool(before or after)
    return (
        has_digits and (not before or before.isdecimal() or is_grouped) and (not after or after.isdecimal())
    )


def _plain(text: str) -> str:
    """The text with ASCII digits, separators and signs."""
    return " ".join("".join(map(_plain_digit, text.translate(_MARKS))).split())


def _plain_digit(char: str) -> str:
    value = unicodedata.decimal(char, None)
    return char if value is None else str(value)


def _joined(digits: str) -> str:
    """Digits without separators and leading zeros."""
    return re.sub(r"\D", "", digits).lstrip("0") or "0"


def _stored(text: str, field: str, whole: bool) -> int | float | None:
    """The number as JSON stores it; None if it isn't whole but must be, or can't be stored exactly."""
    try:
        number = validation.load_json(text, field)
    except Invalid:
        return None
    if Decimal(repr(number)) != Decimal(text) or (whole and number != int(number)):
        return None
    return int(number) if whole else number
