"""Invalid arguments and other errors in words, in the page's language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from flask_babel import gettext

from leaseq import Invalid
from leaseq.policy import FIELDS
from leaseq.policy_fields import N_
from leaseq.webapp.i18n import language
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
    "payload": N_("Payload"),
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
    "work": N_("Who may work"),
}
"""Names of fields, except those of the policy, which has its own labels."""

RULES: Final = (
    N_("1 to %(most)s printable characters"),
    N_("1 to %(most)s characters; this has %(count)s"),
    N_("text of at most %(most)s characters"),
    N_("a whole number from %(least)s to %(most)s"),
    N_("a time before to; this is %(since)s, and to is %(until)s"),
    N_("a number from %(least)s to %(most)s"),
    N_("%(least)s to %(most)s characters of a-z 0-9 . _ -"),
    N_("at most %(most)s skills, each 1 to 64 characters of a-z 0-9 . _ -"),
    N_("a team of at most %(most)s printable characters"),
    N_("at most %(most)s names at once; these are %(count)s"),
    N_("at most %(most)s people; these are %(count)s: use a skill or a team"),
    N_("at most %(most)s teams; these are %(count)s"),
    N_("at least one person, skill or team; or everybody"),
    N_("people who have an account"),
    N_("at least one person: select them in the list"),
    N_("anybody but yourself: you would be signed out"),
    N_("a value in its field"),
    N_("a queue that only some may work on: everybody may work on '%(queue)s'"),
    N_("somebody with an account that is not disabled"),
    N_("no space at its beginning or end"),
    N_("an unused name"),
    N_("your current one"),
    N_("a code within 15 minutes"),
    N_("the six digits that your device shows now"),
    N_("well-formed JSON (%(why)s)"),
    N_("JSON at most %(most)s levels deep"),
    N_("a date and a time in %(zone)s, such as 2026-11-24T17:00"),
    N_("a day such as 2026-11-21, or a time such as 2026-11-21T10:05; both in %(zone)s"),
    N_("a time that exists in %(zone)s: on %(day)s its clocks skip %(time)s, when they are put forward"),
    N_("a time like 2026-11-21T10:05:00Z, or a date"),
    N_("only with outcome abandoned or failed, or without an outcome: only these have a comment"),
    N_("newest or oldest"),
    N_("a field %(name)s, which this row does not have"),
    N_("an object with a field %(name)s"),
    N_("an object with named fields"),
    N_("an object %(shape)s"),
    N_("a field of a new item: %(names)s"),
    N_("is required"),
    N_("is required, and %(names)s are not fields of a new item: wrap the payload, %(shape)s"),
    N_("is required, and %(name)s is not a field of a new item: wrap the payload, %(shape)s"),
    N_("is required; %(name)s is not a field of a new item, did you mean %(near)s?"),
    N_("text or a whole number"),
    N_("an id other than '.' and '..', which a URL can't contain"),
    N_("an id in which no part between slashes or backslashes is . or .."),
    N_("a list of skills"),
    N_(
        "a time like 2026-11-21T10:05:00Z, or a date; for dates such as 3/4/2026, say whether the day or "
        "the month is first"
    ),
    N_("a date with the day first"),
    N_("a date with the month first"),
    N_("a time like 2026-11-21T10:05:00.123Z"),
    N_("a datetime with a time zone, such as datetime.now(UTC), from 1970 to 9000"),
    N_("a time in the years 1 to 9999"),
    N_("true or false, as in the cells above"),
    N_("a number, as in the cells above"),
    N_("a JSON list or object, as in the cells above"),
    N_("true, false, a number, or a JSON list or object"),
    N_("at most %(most)s bytes of JSON; this has %(count)s"),
    N_("JSON with at most %(most)s arrays and objects"),
    N_("UTF-8 text (byte %(at)s is not valid)"),
    N_("numbers that a double can hold"),
    N_("whole numbers of at most %(most)s digits"),
    N_("JSON numbers (not %(name)s)"),
    N_("each key once in an object (%(name)s occurs twice)"),
    N_("text without lone surrogates"),
    N_("visible characters only (%(character)s is not visible)"),
    N_("one of %(values)s"),
    N_("%(least)s to %(most)s characters"),
)
"""Rules without their field. The first match counts, so more specific ones come first."""

SENTENCES: Final = (
    N_("there is already a person named '%(name)s'"),
    N_("'%(name)s' looks like '%(other)s', which is taken: choose a name that differs more"),
    N_("'%(name)s' is already invited: revoke that invitation first"),
    N_("'%(name)s' is the only admin who can sign in: make somebody else admin first"),
    N_("'%(name)s' is in none of these groups, and could not change it back"),
    N_("nobody is named '%(name)s'"),
    N_("'%(name)s' has no access to this queue"),
    N_("that password contains the name, which is easy to guess"),
    N_("that password is a common one, which is easy to guess: use a few words in a row instead"),
    N_("there is no queue '%(name)s', or you have no access to it"),
    N_("there is no queue '%(name)s': it was deleted, with its items"),
    N_("there is no queue '%(name)s'"),
    N_("there is no queue '%(name)s'; did you mean %(near)s?"),
    N_("'%(name)s' has %(most)s API tokens: revoke unused ones first"),
    N_("there is nothing at this address: it may be mistyped, or what it named was removed"),
    N_("queue '%(name)s' has no item '%(id)s': it was never there, or was removed"),
    N_("there is no person named '%(name)s'"),
    N_("this requires the role %(needed)s; yours is %(yours)s: ask an admin"),
    N_(
        "the policy of queue '%(name)s' was changed in the meantime: check the current policy, "
        "then save again"
    ),
    N_("the queue server does not answer: try again in a few seconds"),
    N_("the error was logged; the request may or may not have taken effect"),
    N_("too many requests: wait, then try again"),
    N_("%(why)s Reload the page; a program sends the token in the header X-CSRFToken"),
    N_("%(name)s is a spreadsheet: save it as xlsx or as CSV (UTF-8) there, and import that file"),
    N_("%(name)s is a Parquet file: write it as JSONL, with duckdb for instance: %(how)s"),
    N_("%(name)s is a URL, which is not fetched: pipe it in, %(how)s"),
    N_("the file name %(name)s ends with none of %(endings)s: name the format, one of %(formats)s"),
    N_(
        "line %(line)s has the byte %(byte)s, which is not valid %(encoding)s there: name the encoding "
        "that the file has"
    ),
    N_("the file is not %(encoding)s: %(why)s: name the encoding that the file has"),
    N_("envelope requires json or jsonl, not %(format)s"),
    N_("file: at most %(most)s bytes of xlsx; this one exceeds it: save the sheet as CSV, and import that"),
    N_("file: at most %(most)s rows in a sheet; this one exceeds it: save the sheet as CSV, and import that"),
    N_(
        "file: a workbook that unpacks to at most %(most)s bytes and %(count)s times its size; this one "
        "exceeds it: save the sheet as CSV, and import that"
    ),
    N_(
        "file: an xlsx workbook that is whole and has no password; this one can't be read (%(why)s): open"
        " it in a spreadsheet program, save it as xlsx or CSV (UTF-8), and import that"
    ),
)
"""Errors without a field."""

FAULTS: Final = (
    N_("the header can't be read: %(fault)s"),
    N_("the file is empty; its first row must name the columns"),
    N_("a JSON file must be one array of rows; for one row per line, use the format jsonl"),
    N_("the file ends before its array does"),
    N_("there is more after the end of the array; none of it was read"),
    N_("a row of at most %(most)s bytes"),
    N_("a row of at most %(most)s columns expected, got %(count)s"),
    N_("the first line names %(mark)s as the separator, which is not supported"),
    N_("the header can be split by %(choices)s"),
    N_("not UTF-8 text"),
    N_("a NUL byte; is this file UTF-8 text?"),
    N_("a quote opens in this row and does not close within %(most)s bytes"),
    N_("a quote opens in this row and does not close"),
    N_("a bare carriage return; lines end with LF or CRLF"),
    N_("text follows a quote that closes in this row"),
    N_("not well-formed: %(why)s"),
    N_(
        "the names of the columns expected, and this line has one cell, while line %(line)s has "
        "%(count)s: is it a title?"
    ),
    N_(
        "column %(column)s (%(letter)s) has no name in the header, and this row has %(cell)s there: name "
        "the column in line %(line)s"
    ),
    N_("the header has %(columns)s and this row has %(count)s (separated by %(marks)s)"),
    N_("the header has %(columns)s and this row has %(count)s"),
    N_("the first row has %(columns)s and this row has %(count)s (separated by %(marks)s)"),
    N_("the first row has %(columns)s and this row has %(count)s"),
    N_("the header names the column %(name)s twice: rename one of the columns %(first)s and %(second)s"),
    N_("the header has no column %(name)s; it has %(names)s"),
)
"""What is wrong with a row of an imported file, if it is not a rule of a field."""

WORDS: Final = {
    "commas": N_("commas"),
    "semicolons": N_("semicolons"),
    "tabs": N_("tabs"),
    "pipes": N_("vertical bars ( | )"),
}
"""The names of separators in faults, as pages call them."""


def role_word(role: str) -> str:
    """The name of a role in the page's language."""
    words = {"worker": gettext("worker"), "manager": gettext("manager"), "admin": gettext("admin")}
    return str(words[role])


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
