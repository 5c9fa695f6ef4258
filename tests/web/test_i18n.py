"""Numbers as people type them in their language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from leaseq import Invalid
from leaseq.webapp.i18n import number_text, read_number, shown_number


@pytest.fixture(params=["en", "de"])
def language(app: Flask, request: pytest.FixtureRequest) -> Iterator[str]:
    with app.test_request_context(headers={"Accept-Language": request.param}):
        yield request.param


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3,5", 3.5),
        ("3.5", 3.5),
        (".5", 0.5),
        (",5", 0.5),
        ("5.", 5),
        ("05", 5),
        ("00,50", 0.5),
        ("0,125", 0.125),
        (" 42 ", 42),
        ("+7", 7),
        ("-3.5e2", -350.0),
        ("−1", -1),
        ("– 1", -1),
        ("３．５", 3.5),
        ("１２", 12),
        ("٣٫٥", 3.5),
        ("١٬٢٣٤٫٥", 1234.5),
        ("۳", 3),
        ("३.५", 3.5),
        ("\u200f٤٢", 42),
        ("3。5", 3.5),
        ("1.234.567", 1_234_567),
        ("1,234,567", 1_234_567),
        ("12,34,567", 1_234_567),
        ("1.234,56", 1234.56),
        ("1,234.56", 1234.56),
        ("1 234", 1234),
        ("1\u202f234,5", 1234.5),
        ("1 234.567", 1234.567),
        ("12'345.5", 12345.5),
        ("12’345", 12345),
        ("1,2345", 1.2345),
        ("1234,567", 1234.567),
    ],
)
def test_number_that_can_be_read_in_one_way_is_read_in_every_language(
    language: str, text: str, number: float
) -> None:
    assert read_number(text, "x") == number
    if number == int(number):
        assert type(read_number(text, "x", whole=True)) is int


@pytest.mark.parametrize(
    "text",
    [
        "", "four", "1,5,5", "1.23.456", "1,2.3,4", ".", ",", "-", "--1", "1-", "e5", "1e", "NaN", "Infinity",
        "1e999", "1e-999", "0.12345678901234567891", "true", "0x10", "1_000", "3²", "½", "①", "1 2", "12 34",
        "9" * 5_000, "." * 400, "01.234.567", "1'2",
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused(language: str, text: str) -> None:
    with pytest.raises(Invalid):
        read_number(text, "x")


def test_number_with_language_decimal_separator_is_read_and_another_that_may_be_two_is_asked(
    language: str,
) -> None:
    own, other = {"en": ("1.234", "1,234"), "de": ("1,234", "1.234")}[language]
    assert read_number(own, "x") == 1.234
    with pytest.raises(Invalid) as refused:
        read_number(other, "x")
    assert "1234" in refused.value.limit
    assert own in refused.value.limit
    assert read_number(other, "x", whole=True) == 1234, "1.234 is not whole"
    with pytest.raises(Invalid):
        read_number(own, "x", whole=True)
    with pytest.raises(Invalid):
        read_number(other.replace("234", "000"), "x", whole=True)


@pytest.mark.parametrize("number", [0, -1, 1234, 12345678, 3.5, -0.001, 1234.567, 1e21, 1e-7, 10**40, 2.0])
def test_number_shown_in_an_input_is_read_as_the_same_number(language: str, number: float) -> None:
    text = number_text(number)
    assert repr(read_number(text, "x")) == repr(number)


def test_number_to_read_has_the_separators_of_the_language_and_all_decimals(language: str) -> None:
    assert shown_number(2500.5) == {"en": "2,500.5", "de": "2.500,5"}[language]
    assert shown_number(0.00001) == {"en": "0.00001", "de": "0,00001"}[language]
