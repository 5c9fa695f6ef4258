"""A queue's settings: its policy as a form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, Json, strict
from webapp.gate import needs
from webapp.manage import bp
from webapp.state import person, queue


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of the policy as the page asks for it."""

    name: str
    label: str
    help: str
    kind: str  # text, area, number, yes-no, json
    read: Callable[[str], Json]
    write: Callable[[Any], str]


def _number(name: str) -> Callable[[str], Json]:
    def read(text: str) -> Json:
        try:
            found = strict.load_json(text.strip(), name)
        except Invalid:
            raise Invalid(name, "a number") from None
        return int(found) if isinstance(found, float) and found.is_integer() else found

    return read


def _number_or_none(name: str) -> Callable[[str], Json]:
    number = _number(name)
    return lambda text: number(text) if text.strip() else None


def _bands(text: str) -> Json:
    return tuple(_number("bands")(part) for part in text.replace(",", " ").split())


def _json(name: str) -> Callable[[str], Json]:
    return lambda text: strict.load_json(text, name) if text.strip() else None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _pretty(value: Json) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


SETTINGS = (
    Setting("title", "Title", "What people see.", "text", str.strip, _shown),
    Setting("instructions", "Instructions", "Markdown, shown beside each item.", "area", _lines, _shown),
    Setting(
        "form",
        "Form",
        "JSON: what to show, what to ask (a JSON Schema), and keys. Empty: a table and one text box.",
        "json",
        _json("form"),
        _pretty,
    ),
    Setting(
        "lease_seconds",
        "Time for one item",
        "Seconds that a person may hold it, 0.1 to 604,800.",
        "number",
        _number("lease_seconds"),
        _shown,
    ),
    Setting(
        "renewals",
        "Renewals",
        "How often a person may take more time for one item. Empty: no limit.",
        "number",
        _number_or_none("renewals"),
        _shown,
    ),
    Setting(
        "max_attempts",
        "Attempts",
        "After so many that ran out or failed the item is dead, 1 to 1,000.",
        "number",
        _number("max_attempts"),
        _shown,
    ),
    Setting(
        "holds",
        "Items at once",
        "How many one person may hold, 1 to 100.",
        "number",
        _number("holds"),
        _shown,
    ),
    Setting(
        "retry_seconds",
        "Wait after a problem",
        "Seconds before an item with a problem is tried again; doubled each time.",
        "number",
        _number("retry_seconds"),
        _shown,
    ),
    Setting(
        "retry_max_seconds",
        "Longest such wait",
        "Seconds.",
        "number",
        _number("retry_max_seconds"),
        _shown,
    ),
    Setting(
        "bands",
        "Priority bands",
        "Two numbers: priorities up to the first are high, past the second low.",
        "text",
        _bands,
        lambda value: " ".join(map(str, value)),
    ),
    Setting(
        "share_drafts",
        "Share drafts",
        "Show what one person typed to the next who gets the item.",
        "yes-no",
        lambda text: text == "yes",
        lambda value: "yes" if value else "",
    ),
    Setting(
        "answers",
        "Answers",
        "How many people are to answer each item, 1 to 100. Counts for items handed out from now on.",
        "number",
        _number("answers"),
        _shown,
    ),
    Setting(
        "max_abandons",
        "Given back by",
        "When that many people gave an item back, it is dead. Empty: no limit.",
        "number",
        _number_or_none("max_abandons"),
        _shown,
    ),
    Setting(
        "dedupe_seconds",
        "Same payload",
        "Seconds within which an equal payload counts as the same item. 0: never.",
        "number",
        _number("dedupe_seconds"),
        _shown,
    ),
    Setting(
        "keep_finished_seconds",
        "Keep finished items",
        "Seconds; after that the clear job forgets them, answers and all. Empty: keep them.",
        "number",
        _number_or_none("keep_finished_seconds"),
        _shown,
    ),
    Setting(
        "durable",
        "Acknowledge after",
        "server, fsync (it is on the server's disk) or replica (another server has it, too).",
        "text",
        str.strip,
        _shown,
    ),
)


@bp.get("/manage/<q>/settings")
@needs("manager")
def settings(q: str) -> str:
    found = queue(q)
    policy = found.policy
    typed = {one.name: one.write(getattr(policy, one.name)) for one in SETTINGS}
    return _page(found, policy, typed, {})


@bp.post("/manage/<q>/settings")
@needs("manager")
def save_settings(q: str) -> Response | tuple[str, int]:
    found = queue(q)
    typed = {one.name: request.form.get(one.name, "") for one in SETTINGS}
    changes: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for one in SETTINGS:
        try:
            changes[one.name] = one.read(typed[one.name])
        except Invalid as refused:
            errors[one.name] = refused.limit
    if not errors:
        try:
            found.configure(by=person().name, **changes)
        except Invalid as refused:
            errors[refused.field] = refused.limit
    if errors:
        return _page(found, found.policy, typed, errors), 400
    flash("Saved.")
    return redirect(url_for("manage.one_queue", q=q), 303)


def _page(
    found: leaseq.Queue, policy: leaseq.Policy, typed: Mapping[str, str], errors: Mapping[str, str]
) -> str:
    return render_template(
        "manage/settings.html", queue=found, policy=policy, settings=SETTINGS, typed=typed, errors=errors
    )
