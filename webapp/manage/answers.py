"""The page of a queue's answers, and their first question for the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from flask import render_template, request, url_for
from flask_babel import gettext as _

import leaseq
from leaseq import Answer, Filter, Invalid, Json, validation
from leaseq.webapp.context import existing_queue
from leaseq.webapp.forms.fields import Field, fields_of
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.bulk.moves import moves_for
from leaseq.webapp.manage.distributions import MAX_GROUPS, Distribution, agreement_of, distribution_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services.queues import people_of
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.site_time import filter_period, site_zone

READ_LIMITS = (1_000, 5_000, 20_000)
"""The newest answers that a page reads: few at first, more on request."""
DISAGREEMENTS = 50
MAX_QUESTIONS = 50
_PAGE = 500
_SCAN_LIMIT = 50_000  # entries of the list that one page scans for a person's answers
_GROUPS: dict[str, Callable[[Answer], str]] = {
    "person": lambda answer: answer.person,
    "day": lambda answer: f"{answer.finished_at.astimezone(site_zone()):%Y-%m-%d}",
}


@bp.get("/manage/<q>/answers")
@needs("manager")
def answers(q: str) -> str | tuple[str, int]:
    queue, args, field_error = existing_queue(q), request.args, None
    results: list[Answer] = []
    has_more, own_forms = False, dict[str, Json]()
    try:
        limit = int(
            validation.one_of(args.get("most") or str(READ_LIMITS[0]), tuple(map(str, READ_LIMITS)), "most")
        )
        by = validation.one_of(args.get("by") or "", ("", *_GROUPS), "by")
        skip = _skip()
        criteria = _filter()
        results, has_more, own_forms = newest_answers(queue, criteria, limit)
    except Invalid as error:
        field_error, criteria, limit, by, skip = error, Filter(), READ_LIMITS[0], "", 0
    policy = queue.policy
    asked = answers_by_question(policy.form, results, own_forms)
    comparable = [field for field in fields_of(policy.form) if field.kind != "file"]  # no two are the same
    compared = [answer for answer in results if answer.id not in own_forms]
    form_values: dict[str, Any] = {
        name: args.get(name, "").strip() for name in ("person", "from", "to", "by")
    }
    page = render_template(
        "manage/answers.html",
        queue=queue,
        policy=policy,
        finished_count=queue.stats().finished,
        form_values=form_values,
        field_error=field_error,
        count=len(results),
        has_more=has_more,
        next_limit=next((n for n in READ_LIMITS if n > limit), None) if has_more else None,
        by=by,
        groups={"person": _("Person"), "day": _("Day")},
        max_groups=MAX_GROUPS,
        distributions=[distribution_of(question, given, _GROUPS.get(by)) for question, given in asked],
        asked_counts=[len(given) for _, given in asked],
        agreement=agreement_of(comparable, compared, DISAGREEMENTS, skip) if policy.answers > 1 else None,
        skip=skip,
        page_size=DISAGREEMENTS,
        page_url=partial(url_for, "manage.answers", q=q, **form_values, most=limit),
        people=[account.name for account in people_of(queue.name)],
        move_names=moves_for("finished"),
        items_url=partial(_items_url, q, form_values),
        group_filter=partial(_group_filter, by, criteria),
    )
    return (page, 400) if field_error else page


def _filter() -> Filter:
    args = request.args
    person = args.get("person", "").strip() or None
    since, until = filter_period(args)
    return Filter(
        person=person,
        outcome="finished" if person else None,
        since=since,
        until=until,
    )


def newest_answers(
    queue: leaseq.Queue, criteria: Filter, limit: int
) -> tuple[list[Answer], bool, dict[str, Json]]:
    """The newest answers, whether there may be more, and by id the items' own forms."""
    results: list[Answer] = []
    after, scanned, own_forms = None, 0, dict[str, Json]()
    while True:
        page = queue.find(
            "finished", criteria, limit=_PAGE, after=after, look=_SCAN_LIMIT - scanned, backwards=True
        )
        results += [
            answer
            for item in page.items
            for answer in item.answers
            if criteria.person in (None, answer.person)
        ]
        own_forms |= {item.id: item.form for item in page.items if item.form is not None}
        after, scanned = page.after, scanned + page.scanned
        if after is None or len(results) >= limit or scanned >= _SCAN_LIMIT:
            return results[:limit], after is not None or len(results) > limit, own_forms


def answers_by_question(
    form: Json, answers: Sequence[Answer], own_forms: Mapping[str, Json]
) -> list[tuple[Field, list[Answer]]]:
    """The questions that were asked for these answers, each with its answers: those of the queue's form, then
    of items' own. Questions of several forms with the same name, kind and choices are one."""
    asked: dict[tuple[object, ...], tuple[Field, list[Answer]]] = {}
    queue_fields = fields_of(form)
    for answer in in_slices(answers):
        own_form = own_forms.get(answer.id)
        for field in queue_fields if own_form is None else fields_of(own_form):
            key = field.name, field.kind, field.choices
            asked.setdefault(key, (field, []))[1].append(answer)
    return sorted(asked.values(), key=lambda entry: entry[0] not in queue_fields)[:MAX_QUESTIONS]


def _skip() -> int:
    """The number of disagreements on earlier pages."""
    skip = whole_number(request.args.get("skip") or "0")
    if skip is None or skip < 0:
        raise Invalid("skip", "minimum", minimum=0)
    return skip


def _items_url(q: str, form_values: dict[str, str], find: str, group: dict[str, str] | None = None) -> str:
    """The URL of the items that a search finds, within the page's filter and a group of the answers."""
    arguments: dict[str, Any] = {name: form_values[name] or None for name in ("person", "from", "to")} | (
        group or {}
    )
    if arguments["person"]:
        arguments["outcome"] = "finished"
    return url_for("manage.items", q=q, state="finished", find=find or None, **arguments)


def _group_filter(by: str, criteria: Filter, name: str) -> dict[str, str]:
    """The filter for the answers of one person, or of the part of a day (in the site's zone) within
    ``criteria``."""
    if by == "person":
        return {"person": name}
    zone, day = site_zone(), date.fromisoformat(name)
    begin, end = (datetime.combine(edge, time(), zone) for edge in (day, day + timedelta(days=1)))
    begin, end = max(begin, criteria.since or begin), min(end, criteria.until or end)
    return {"from": begin.isoformat(), "to": end.isoformat()}


READ_LIMIT = 100  # answers: few, so that the page opens without delay


@dataclass(frozen=True, slots=True)
class FirstQuestion:
    """The distribution of the newest answers to a question."""

    distribution: Distribution
    count: int  # answers read
    has_more: bool  # whether there are older ones
    agreement: float | None  # share of items with several answers that agree; None: there are none
    disagreements: int  # items whose answers differ


def first_question_of(queue: leaseq.Queue) -> FirstQuestion | None:
    """The first question whose answers can be counted; None if there is none, or no answer."""
    read, has_more, own_forms = newest_answers(queue, Filter(), READ_LIMIT)
    for question, answers in answers_by_question(queue.policy.form, read, own_forms):
        distribution = distribution_of(question, answers)
        if distribution.bars:
            agreement = agreement_of([question], answers, 0)
            share = agreement.shares.get(question.label)
            return FirstQuestion(distribution, len(answers), has_more, share, agreement.disagreements)
    return None
