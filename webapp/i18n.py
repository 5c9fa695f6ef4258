"""The language of the pages, and numbers and durations as people type and read them in it.

The language is the person's choice, else the browser's, else English. ``3,5`` is a number in every language,
since it can be read in one way only. ``1.234`` is a number in English; in German it may be 1,234 or 1234, so
the person is asked which they mean.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, MutableMapping
from decimal import Decimal
from functools import lru_cache
from types import CodeType
from typing import Any

from babel import Locale, negotiate_locale
from babel.numbers import format_decimal, get_decimal_symbol
from flask import Flask, g, has_request_context, request
from flask.templating import Environment
from flask_babel import Babel, get_locale, get_translations
from jinja2 import Template, nodes, pass_context
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context
from markupsafe import Markup
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from leaseq import Invalid, validation
from leaseq.webapp.serving.time_slices import end_slice_when_over, join_in_slices

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""Each language's own name, by code."""

COOKIE = "leaseq-language"


def language() -> str:
    """The code of the response's language."""
    context = g._get_current_object()  # noqa: SLF001 - its proxy would look it up for each attribute
    if "language" not in context:
        context.language = str(_select_locale()) if has_request_context() else "en"
    return str(context.language)


def init_i18n(app: Flask) -> None:
    Babel(app, default_locale="en", default_timezone="UTC", locale_selector=_select_locale)
    app.jinja_env.globals.update(_=_template_gettext, gettext=_template_gettext)
    app.jinja_env.globals["language"] = language
    app.jinja_env.globals["languages"] = LANGUAGES


class Templates(Environment):
    """Flask's environment, with each template compiled once per language. Looking up a page's fifty texts
    at each request took a fifth of its time. A long page is compiled and rendered in time slices."""

    concat = staticmethod(join_in_slices)  # Jinja joins a page's pieces with it

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        end_slice_when_over()
        return super()._parse(source, name, filename)

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        end_slice_when_over()
        return super()._generate(source, name, filename, defer_init)

    def _compile(self, source: str, filename: str) -> CodeType:
        end_slice_when_over()
        return super()._compile(source, filename)

    def get_or_select_template(
        self,
        template_name_or_list: str | Template | list[str | Template],
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> Template:
        if self.overlayed:
            return super().get_or_select_template(template_name_or_list, parent, globals)
        environments: dict[str, Templates] = self.__dict__.setdefault("_environments", {})
        code = language()
        if code not in environments:
            environments[code] = self.overlay(extensions=[_FixedTexts])
        return environments[code].get_or_select_template(template_name_or_list, parent, globals)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return one dict instead of Jinja's chain of two, which is slow to search at each import of macros.
        The app sets its globals before a template is loaded."""
        return {**self.globals, **(d or {})}


class _FixedTexts(Extension):
    """Translates texts without parameters, such as ``_("Sign out")``, when a template is compiled: each
    language has its own compiled templates."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        tokens, place = list(stream), 0
        while place < len(tokens):
            call = tokens[place : place + 4]
            translation = _translations().gettext(call[2].value) if _is_text(call) else "%"
            if "%" in translation:  # has parameters, or is not such a call
                yield tokens[place]
                place += 1
                continue
            _name, opening, text, closing = call
            yield opening
            yield Token(text.lineno, "string", translation)
            yield Token(text.lineno, "pipe", "|")
            yield Token(text.lineno, "name", "safe")  # as in _template_gettext
            yield closing
            place += 4


def _is_text(call: list[Token]) -> bool:
    return [token.type for token in call] == ["name", "lparen", "string", "rparen"] and call[0].value == "_"


@pass_context
def _template_gettext(context: Context, text: str, /, **values: Any) -> str:
    """The ``_`` of a template. Jinja's own looks up the language for each text."""
    translation: str = _translations().gettext(text)
    if context.eval_ctx.autoescape:
        translation = Markup(translation)  # noqa: S704 - our own text; what is put into it is escaped
    return translation % values if values or "%" in translation else translation


def _translations() -> Any:
    """The translations into this request's language."""
    if "translations" not in g:
        g.translations = get_translations()
    return g.translations


def _select_locale() -> Locale:
    code = request.cookies.get(COOKIE)
    return _locale(code) if code in LANGUAGES else _wished(request.headers.get("Accept-Language", ""))


@lru_cache(maxsize=256)
def _wished(header: str) -> Locale:
    """The language that a browser prefers: de-AT before en is German."""
    tags = [tag for tag, _ in parse_accept_header(header, LanguageAccept)]
    return _locale(negotiate_locale(tags, LANGUAGES, sep="-") or "en")


@lru_cache(len(LANGUAGES))
def _locale(code: str) -> Locale:
    return Locale.parse(code)


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
        raise Invalid(field, "format", what="whole" if whole else "number", value=text)
    if len(numbers) > 1:
        first, second = map(number_text, numbers)
        raise Ambiguous(field, "page", what="ambiguous", first=first, second=second)
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


UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
_SPAN = re.compile(r"([^\sa-zA-Z]+)\s*(d|h|min|m|s)?\s*")
_PLAIN_NUMBER = re.compile(r"\s*[^\sa-zA-Z]+\s*")


def number_and_unit(seconds: float) -> tuple[str, str]:
    """A duration as a whole number of the largest possible unit, such as 90 and min."""
    unit = next((unit for unit, size in UNITS.items() if seconds and seconds % size == 0), "s")
    return f"{seconds / UNITS[unit]:f}".rstrip("0").rstrip("."), unit


def span_text(seconds: float) -> str:
    """A duration in full, as ``read`` accepts it: ``1 h 30 min``."""
    if seconds != int(seconds):
        return f"{number_text(seconds)} s"
    parts: list[str] = []
    remaining = int(seconds)
    for unit, size in UNITS.items():
        count, remaining = divmod(remaining, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"


def split_span(text: str) -> tuple[str, str]:
    """Split a duration into number and unit. Other texts stay whole."""
    match = _SPAN.fullmatch(text)
    return (match[1], {"m": "min"}.get(match[2], match[2]) or "s") if match else (text, "s")


def join_span(text: str, unit: str) -> str:
    """Join an input's text and its unit. A text with its own units, like 1 h 30 min, stays as it is."""
    return f"{text.strip()} {unit}" if unit in UNITS and _PLAIN_NUMBER.fullmatch(text) else text


def read_span(text: str, field: str) -> int | float:
    """Parse a duration such as ``90``, ``1 h 30 min`` or ``1.5 h`` into seconds. Raises
    Invalid."""
    parts = list(_SPAN.finditer(text))
    is_whole = "".join(part.group() for part in parts) == text
    if not parts or not is_whole or (len(parts) > 1 and not all(part[2] for part in parts)):
        raise Invalid(field, "format", what="duration", value=text)
    sizes = {**UNITS, "m": 60}
    seconds = round(sum(read_number(part[1], field) * sizes[part[2] or "s"] for part in parts), 6)
    return int(seconds) if seconds == int(seconds) else seconds
