"""The sentence of each rule that a call can break: *expected …, got …: what to do*.

An error has a rule and values; only here do they become English, and pages translate these texts. A rule with
several texts has one for each of its kinds, which the value ``what`` names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from leaseq.sentences import common, files, library, web
from leaseq.sentences.rule import Rule, placeholders

_MAX_SHOWN = 60  # characters of a refused value in a sentence
_MAX_TEXT = 1_000  # characters of a text among the values

RULES: Final = common.RULES | library.RULES | files.RULES | web.RULES
"""Every rule, by its name: a rule, or one for each ``what``."""

EXPECTED: Final = "expected %(expected)s"
EXPECTED_GOT: Final = "expected %(expected)s, got %(got)s"
_SHAPES: Final = {
    int: "the number %(value)s",
    float: "the number %(value)s",
    list: "the array %(value)s",
    tuple: "the array %(value)s",
    dict: "the object %(value)s",
}

Translate = Callable[[str], str]
Show = Callable[[str, Any, Translate], str]


def N_(text: str) -> str:  # noqa: N802 - gettext's name for it
    """Mark a text for translation; a page translates it when it is shown."""
    return text


def texts() -> list[str]:
    """The texts to translate, each once."""
    groups = (group.values() if isinstance(group, dict) else (group,) for group in RULES.values())
    texts = (text for group in groups for rule in group for text in rule.texts)
    found = dict.fromkeys((EXPECTED, EXPECTED_GOT, *_SHAPES.values(), *texts))
    return [text for text in found if text != f"%({min(placeholders(text), default='')})s"]


def rule_of(name: str, values: Mapping[str, Any]) -> Rule:
    """The rule of an error."""
    group = RULES[name]
    return group[values.get("what", "")] if isinstance(group, dict) else group


def shown(name: str, value: Any, translate: Translate) -> str:
    """A value in a sentence. The refused ``value`` itself is shown with its type in JSON."""
    if name == "value":
        return described(value, translate)
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:,}"
        case list() | tuple():
            return ", ".join(shown("", item, translate) for item in value)
        case dict():
            return ", ".join(f"{item} ({count})" for item, count in value.items())
        case str():
            return value if value.isprintable() else repr(value)[1:-1]
    return "null" if value is None else str(value)


def expected(rule: str, values: Mapping[str, Any]) -> str:
    """The values that the rule allows."""
    texts = rule_of(rule, values)
    return _filled(texts.expected or texts.sentence, values, str, shown)


def sentence(
    rule: str, values: Mapping[str, Any], translate: Translate = str, show: Show = shown, field: str = ""
) -> str:
    """The sentence of a broken rule, beginning with the field if that is given."""
    text = statement(rule, values, translate, show)
    if help := advice(rule, values, translate, show):
        text = f"{text}: {help}"
    return f"{field}: {text}" if field and not rule_of(rule, values).sentence else text


def statement(rule: str, values: Mapping[str, Any], translate: Translate = str, show: Show = shown) -> str:
    """The sentence of an error: *expected …, got …*."""
    texts = rule_of(rule, values)
    if texts.sentence:
        return _filled(texts.sentence, values, translate, show)
    parts = {"expected": _filled(texts.expected, values, translate, show)}
    if got := texts.got_of(values):
        parts["got"] = _filled(got, values, translate, show)
    return translate(EXPECTED_GOT if got else EXPECTED) % parts


def advice(rule: str, values: Mapping[str, Any], translate: Translate = str, show: Show = shown) -> str:
    """The advice of a rule; empty if it has none for these values."""
    text = rule_of(rule, values).advice_of(values)
    return _filled(text, values, translate, show) if text else ""


def _filled(text: str, values: Mapping[str, Any], translate: Translate, show: Show) -> str:
    return translate(text) % {name: show(name, values[name], translate) for name in placeholders(text)}


def described(value: object, translate: Translate = str) -> str:
    """A refused value: with its type as in JSON, and with the name of a character that can't be seen."""
    text = repr(value)
    text = text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str) and not value.isprintable():
        unprintable = next(character for character in value if not character.isprintable())
        name = unicodedata.name(unprintable, "")
        return f"{text}, with U+{ord(unprintable):04X}{f' ({name})' if name else ''}"
    shape = next((shape for kind, shape in _SHAPES.items() if isinstance(value, kind)), None)
    return translate(shape) % {"value": text} if shape else text


def plain(value: object) -> Any:
    """A value as JSON can hold it, shortened if it is long."""
    match value:
        case None | bool() | int():
            return value
        case float() if value - value == 0:  # finite
            return value
        case str():
            return value if len(value) <= _MAX_TEXT else f"{value[: _MAX_TEXT - 1]}…"
        case list() | tuple() if len(repr(value)) <= _MAX_TEXT:
            return [plain(item) for item in value]
        case dict() if len(repr(value)) <= _MAX_TEXT:
            return {str(key): plain(item) for key, item in value.items()}
    return repr(value)[:_MAX_SHOWN]
