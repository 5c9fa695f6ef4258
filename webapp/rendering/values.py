"""Amounts of money and times in payloads, as people read them: by the page's language and the site's zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime

from babel.numbers import format_currency
from flask_babel import format_date, get_locale

from leaseq import Json
from leaseq.webapp.site_time import site_zone

_CURRENCY = re.compile(r"[A-Za-z]{3}")
_AMOUNT = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_MAX_DIGITS = 30  # before or after the decimal point
_LONGEST_TIME = 64  # characters
_MILLISECONDS = 100_000_000_000  # a Unix time from here on is in milliseconds: in seconds it is the year 5138


def money_text(value: Json, currency: str = "") -> str | None:
    """An amount of money with all its decimals; None if it is none.

    It is ``{"amount": 129.9, "currency": "EUR"}``, or a number, or its text, in this currency.
    """
    if isinstance(value, dict):
        currency, value = value.get("currency", currency), value.get("amount")
    number = _decimal(value)
    if number is None or not _CURRENCY.fullmatch(str(currency)):
        return None
    text = format_currency(number, str(currency).upper(), locale=get_locale(), decimal_quantization=False)
    return str(text)


def _decimal(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = value.strip() if isinstance(value, str) else repr(value)
    if len(text) > 2 * _MAX_DIGITS or not _AMOUNT.fullmatch(text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    is_long = not isinstance(exponent, int) or exponent < -_MAX_DIGITS or number.adjusted() > _MAX_DIGITS
    return None if is_long else number


def date_text(value: Json) -> str | None:
    """A date, or a time in the site's zone; None if it is none.

    It is an ISO 8601 date or time, a time as mail has it, or Unix seconds or milliseconds. A time without an
    offset is shown as it is.
    """
    try:
        moment = _moment(value)
        if isinstance(moment, datetime):
            local = moment if moment.tzinfo is None else moment.astimezone(site_zone())
            seconds = f":{local:%S}" if local.second else ""
            return f"{format_date(local, rebase=False)}, {local:%H:%M}{seconds} {local:%Z}".rstrip()
        return None if moment is None else str(format_date(moment))
    except (ValueError, OverflowError, OSError):
        return None


def _moment(value: Json) -> date | None:
    """The date or time. Raises ValueError, OverflowError or OSError for one that does not exist."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, UTC)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_TIME:
        return None
    text = value.strip()
    if not text[:4].isdecimal():
        return parsedate_to_datetime(text)
    return date.fromisoformat(text) if len(text) <= len("2026-11-24") else datetime.fromisoformat(text)
