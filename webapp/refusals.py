"""Invalid arguments and other errors in words, in the page's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import format_decimal, gettext

from leaseq import Invalid, LeaseqError, sentences
from leaseq.policy import FIELDS
from leaseq.sentences import N_
from leaseq.transfer import BadRow
from leaseq.webapp.serving.problem import Problem

NAMES: Final = {
    "back": N_("Given back by at least"),
    "begins": N_("Id begins with"),
    "days": N_("Days"),
    "due": N_("Due date"),
    "file": N_("File"),
    "find": N_("Search"),
    "from": N_("From"),
    "id": N_("Id"),
    "manage": N_("Who may manage"),
    "message": N_("Message"),
    "name": N_("Name"),
    "order": N_("Order"),
    "password": N_("Password"),
    "payload": N_("Content"),
    "person": N_("Person"),
    "priority": N_("Priority"),
    "queue": N_("Queue"),
    "reason": N_("Reason"),
    "requires": N_("Skills"),
    "result": N_("Answer"),
    "role": N_("Role"),
    "skill": N_("Skill"),
    "skills": N_("Skills"),
    "team": N_("Team"),
    "text": N_("Text"),
    "to": N_("Up to"),
    "token_name": N_("What is it for?"),
    "until": N_("Until"),
    "work": N_("Who may work"),
}
"""Names of fields, except those of the policy, which has its own labels."""

WORDS: Final = {
    "commas": N_("commas"),
    "semicolons": N_("semicolons"),
    "tabs": N_("tabs"),
    "pipes": N_("vertical bars ( | )"),
}
"""The names of separators in faults, as pages call them."""

_ROLES = ("needed", "yours", "role")


def role_word(role: str) -> str:
    """The name of a role in the page's language."""
    words = {"worker": gettext("worker"), "manager": gettext("manager"), "admin": gettext("admin")}
    return str(words[role])


def in_words(error: LeaseqError | Problem) -> str:
    """The sentence of an error, with the name of its field if it has one; its own text if it has no rule."""
    if error.rule not in sentences.RULES:
        return str(error)
    field = error.members.get("field") if isinstance(error, Problem) else getattr(error, "field", None)
    return _sentence(error.rule, error.values, name_of(field) if field else "")


def reason_of(error: Invalid) -> str:
    """The sentence of an error, for a place where the field's name stands already."""
    return _sentence(error.rule, error.values)


def reasons_by_field(error: Invalid) -> dict[str, str]:
    """What is wrong with each answer; if the error is of none of them, what is wrong with its own field."""
    reasons = error.errors | {path: reason_of(refusal) for path, refusal in error.refusals.items()}
    return reasons or {error.field: reason_of(error)}


def fault_in_words(row: BadRow) -> str:
    """The problem of a row of an imported file. The fields of its rules are columns of the file, which
    keep their names."""
    text = _sentence(row.error.rule, row.error.values, row.column)
    return _sentence("header", {"fault": text}) if row.is_header else text


def name_of(field: str) -> str:
    """The name of a field on pages, in the page's language."""
    label = NAMES.get(field) or (FIELDS[field].label if field in FIELDS else None)
    return gettext(label) if label else field


def _sentence(rule: str, values: Mapping[str, Any], field: str = "") -> str:
    return sentences.sentence(rule, values, gettext, _shown, field)


def _shown(name: str, value: Any, translate: sentences.Translate) -> str:
    if name in _ROLES:
        return role_word(str(value))
    if isinstance(value, str) and value in WORDS:
        return translate(WORDS[value])
    if isinstance(value, int | float) and not isinstance(value, bool) and name != "value":
        return str(format_decimal(value))
    if isinstance(value, dict) and name != "value":
        return ", ".join(
            f"{_shown('', element, translate)} ({format_decimal(count)})" for element, count in value.items()
        )
    return sentences.shown(name, value, translate)
