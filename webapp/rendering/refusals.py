"""Invalid arguments and other errors in words, in the page's language.

The library and the stores name the field and the rule in English. Rules listed in `refusal_rules` are
translated together with their values; others are shown as they are. English pages show the same text as REST.
"""

from __future__ import annotations

import re
from functools import lru_cache

from flask_babel import gettext

from leaseq import Invalid
from leaseq.policy import FIELDS
from leaseq.webapp.i18n import language
from leaseq.webapp.rendering.refusal_rules import FAULTS, NAMES, RULES, SENTENCES, WORDS
from leaseq.webapp.rendering.roles import role_word
from leaseq.webapp.serving.problem import Problem

_NUMBERS = ("least", "most", "count")
_ROLES = ("needed", "yours")


def in_words(error: Invalid) -> str:
    return _in_words(str(error), error.field, error.limit)


def problem_in_words(problem: Problem) -> str:
    """The detail of a problem for a page."""
    members = problem.members
    return _in_words(problem.detail, str(members.get("field")), str(members.get("limit")))


def fault_in_words(text: str) -> str:
    """What is wrong with a row of an imported file. The fields of its rules are columns of
    the file, which keep their names."""
    if language() == "en":
        return text
    if sentence := _translated(text, FAULTS):
        return sentence
    for colon in re.finditer(": ", text):
        if rule := _translated(text[colon.end() :].partition("; this is ")[0], RULES):
            return f"{text[: colon.start()]}: {rule}"
    return text


def _in_words(text: str, field: str, limit: str) -> str:
    if language() == "en":
        return text
    message = f"{field}: {limit}"
    if text != message and not text.startswith(f"{message}; this is "):
        return _translated(text, SENTENCES) or text
    rule = _translated(limit, RULES)
    return f"{name_of(field)}: {rule}" if rule else text


def name_of(field: str) -> str:
    """The name of a field on pages, in the page's language."""
    label = NAMES.get(field) or (FIELDS[field].description.label if field in FIELDS else None)
    return gettext(label) if label else field


def _translated(text: str, rules: tuple[str, ...]) -> str | None:
    for rule in rules:
        match = _pattern(rule).fullmatch(text)
        if match:
            values = {name: _value(name, value) for name, value in match.groupdict().items()}
            return str(gettext(rule)) % values if values else str(gettext(rule))
    return None


def _value(name: str, value: str) -> str:
    if name == "fault":
        return fault_in_words(value)
    if name == "columns":  # "3 columns"
        return value.partition(" ")[0]
    if name == "choices":  # "commas (3 columns) or by tabs (2 columns)"
        counts = re.findall(r"(\w+) \((\d+)", value)
        return ", ".join(f"{gettext(WORDS.get(marks, marks))} ({count})" for marks, count in counts)
    if name == "marks":
        return str(gettext(WORDS.get(value, value)))
    return role_word(value) if name in _ROLES else value


@lru_cache(maxsize=256)
def _pattern(rule: str) -> re.Pattern[str]:
    """A pattern that matches a rule with any values."""
    parts = re.split(r"%\((\w+)\)s", rule)
    for index, part in enumerate(parts):
        value = r"[\d,]+" if part in _NUMBERS else ".+"
        parts[index] = f"(?P<{part}>{value})" if index % 2 else re.escape(part)
    return re.compile("".join(parts), re.DOTALL)
