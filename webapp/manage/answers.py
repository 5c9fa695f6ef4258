"""Answers: their pages, downloads and distribution."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from flask import flash, render_template, request, url_for
from flask_babel import format_decimal
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Answer, Filter, Invalid, Json, validation
from leaseq.webapp.context import existing_queue
from leaseq.webapp.forms.changes import gone_in_draft
from leaseq.webapp.forms.fields import Field, fields_of
from leaseq.webapp.forms.inputs import MORE_ROWS, UPLOAD
from leaseq.webapp.forms.parsing import errors_at, inputs_of, is_number
from leaseq.webapp.i18n import number_text
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.bulk.moves import moves_for
from leaseq.webapp.manage.item import redirect_to_item, search_args, show_item
from leaseq.webapp.refusals import in_words, reasons_by_field
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.search.matching import at_path, condition, words_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import items
from leaseq.webapp.services.queues import people_of
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.site_time import filter_period, site_zone
from leaseq.webapp.work.endings import read_token, send_answer
from leaseq.webapp.work.files import with_sent_files
from leaseq.webapp.work.view import Input, form_view_of

MAX_VALUES = 20  # bars per question; other values are counted together
MAX_GROUPS = 50  # people or days
_FEW = 12  # distinct texts up to which they are counted like choices
_BINS = 10


@dataclass(frozen=True, slots=True)
class Bar:
    """A value, or a range of numbers, and how many answers have it."""

    label: str
    count: int
    share: float  # of all answers, from 0 to 1
    find: str  # a search that finds these answers; '' if there is none


@dataclass(frozen=True, slots=True)
class Group:
    """The answers of one person or one day: the share of each bar, and the median of numbers."""

    name: str
    count: int
    shares: tuple[float, ...] = ()
    median: float | None = None


@dataclass(frozen=True, slots=True)
class Distribution:
    """The answers to one question."""

    label: str
    answered: int
    bars: tuple[Bar, ...]  # empty for free text, whose answers all differ
    median: float | None = None
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item whose answers differ, with the questions and each person's answer."""

    id: str
    payload: Json
    questions: dict[str, list[tuple[str, Json]]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement among items with several answers: by question, the share of items whose answers are equal."""

    items: int
    shares: dict[str, float]
    disagreements: int  # items whose answers differ
    differing: tuple[Disagreement, ...]  # some of them, in the order of the answers


def distribution_of(
    question: Field, answers: Sequence[Answer], by: Callable[[Answer], str] | None = None
) -> Distribution:
    """The distribution of the answers to a question. ``by`` returns the name of an answer's group."""
    values = [_value(question, answer) for answer in answers]
    label = question.label
    if question.kind == "ranking":
        label = str(_("%(question)s (first place)", question=label))
        values = [value[0] if isinstance(value, list) and value else None for value in values]
    given_values = [value for value in values if value is not None]
    numbers = [float(value) for value in given_values if is_number(value)]
    if question.labels:
        question = replace(question, choices=question.labels)
        values = [_labels(value) for value in values]
        given_values = [value for value in values if value is not None]
    elif question.columns or question.kind == "file":
        return Distribution(label, len(given_values), ())
    if question.kind in ("number", "integer") and numbers:
        bars, key = _histogram(question, numbers, len(answers))
    elif question.choices or len(set(map(_text, given_values))) <= _FEW < len(given_values):
        bars, key = _count_values(question, given_values, len(answers))
    else:
        return Distribution(label, len(given_values), ())
    median = statistics.median(numbers) if numbers and question.kind in ("number", "integer") else None
    groups = _groups(answers, values, by, [bar.label for bar in bars], key) if by else ()
    return Distribution(label, len(given_values), tuple(bars), median, groups)


def agreement_of(
    questions: Sequence[Field], answers: Iterable[Answer], limit: int, skip: int = 0
) -> Agreement:
    """The agreement of the items with two or more of these answers. It lists up to ``limit`` disagreements
    after the first ``skip``."""
    by_item: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_item[answer.id].append(answer)
    answer_groups = [
        sorted(group, key=lambda answer: answer.finished_at) for group in by_item.values() if len(group) > 1
    ]
    same: Counter[str] = Counter()
    examples: list[Disagreement] = []
    disagreements = 0
    for group in answer_groups:
        differences = {}
        for question in questions:
            texts = [(answer.person, _value(question, answer)) for answer in group]
            if len({_text(value) for _, value in texts}) == 1:
                same[question.label] += 1
            else:
                differences[question.label] = texts
        disagreements += bool(differences)
        if differences and skip < disagreements <= skip + limit:
            examples.append(Disagreement(group[0].id, group[0].payload, differences))
    shares = (
        {question.label: same[question.label] / len(answer_groups) for question in questions}
        if answer_groups
        else {}
    )
    return Agreement(len(answer_groups), shares, disagreements, tuple(examples))


_Key = Callable[[Json], set[str]]
"""Returns the labels of the bars that count a value."""


def _count_values(question: Field, values: Iterable[Json], total: int) -> tuple[list[Bar], _Key]:
    labels = {_text(choice.value): choice.label for choice in question.choices}
    counts: Counter[str] = Counter(dict.fromkeys(labels, 0))
    for value in values:
        counts.update(set(map(_text, value)) if isinstance(value, list) else [_text(value)])
    order = list(labels) + [text for text, _ in counts.most_common() if text not in labels]
    bars = [
        Bar(labels.get(text, text), counts[text], counts[text] / total, _find(question, text))
        for text in order[:MAX_VALUES]
    ]

    def key(value: Json) -> set[str]:
        texts = set(map(_text, value)) if isinstance(value, list) else {_text(value)}
        return {labels.get(text, text) for text in texts}

    return bars, key


def _histogram(question: Field, numbers: Sequence[float], total: int) -> tuple[list[Bar], _Key]:
    low, high = min(numbers), max(numbers)
    step = _step(high - low, is_whole=question.kind == "integer")
    first = math.floor(low / step)
    edges = [(first + n) * step for n in range(math.floor(high / step) - first + 1)]
    single = question.kind == "integer" and step == 1

    digits = max(-math.floor(math.log10(step)), 0)

    def label(edge: float) -> str:
        low = format_decimal(round(edge, digits))
        return low if single else f"{low} – {format_decimal(round(edge + step, digits))}"

    def bound(edge: float) -> str:
        return number_text(round(edge, digits))

    counts = Counter(label((math.floor(number / step)) * step) for number in numbers)
    bars = []
    for edge in edges:
        find = [
            condition(question.name, f">={bound(edge)}"),
            condition(question.name, f"<{bound(edge + step)}"),
        ]
        count = counts[label(edge)]
        bars.append(Bar(label(edge), count, count / total, words_of(tuple(find))))
    return bars, lambda value: {label(math.floor(float(value) / step) * step)} if is_number(value) else set()


def _step(span: float, *, is_whole: bool) -> float:
    """A round width for about ten bins."""
    if is_whole and span <= _FEW:
        return 1
    rough = span / _BINS or 1
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= rough)


def _groups(
    answers: Sequence[Answer],
    values: Sequence[Json],
    by: Callable[[Answer], str],
    labels: Sequence[str],
    key: _Key,
) -> tuple[Group, ...]:
    values_by_group: dict[str, list[Json]] = defaultdict(list)
    for answer, value in zip(answers, values, strict=True):
        values_by_group[by(answer)].append(value)
    groups = []
    for name in sorted(values_by_group)[-MAX_GROUPS:]:  # the latest days
        group = values_by_group[name]
        counts = Counter(text for value in group if value is not None for text in key(value))
        numbers = [float(value) for value in group if is_number(value)]
        median = statistics.median(numbers) if numbers else None
        groups.append(Group(name, len(group), tuple(counts[label] / len(group) for label in labels), median))
    return tuple(groups)


def _value(question: Field, answer: Answer) -> Any:
    return at_path(answer.result, list(question.path))


def _labels(passages: Json) -> Json:
    """The labels of an answer's passages."""
    if not isinstance(passages, list):
        return None
    return [passage.get("label") for passage in passages if isinstance(passage, dict)]


def _find(question: Field, text: str) -> str:
    if not text or '"' in text or question.kind in ("ranking", "passages"):  # a search has no parts of them
        return ""
    return words_of((condition(question.name, text),))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


READ_LIMITS = (1_000, 5_000, 20_000)
"""The newest answers that a page reads: few at first, more on request."""
DISAGREEMENTS = 50
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
    has_more = False
    try:
        limit = int(
            validation.one_of(args.get("most") or str(READ_LIMITS[0]), tuple(map(str, READ_LIMITS)), "most")
        )
        by = validation.one_of(args.get("by") or "", ("", *_GROUPS), "by")
        skip = _skip()
        criteria = _filter()
        results, has_more = newest_answers(queue, criteria, limit)
    except Invalid as error:
        field_error, criteria, limit, by, skip = error, Filter(), READ_LIMITS[0], "", 0
    policy = queue.policy
    questions = fields_of(policy.form)
    comparable = [question for question in questions if question.kind != "file"]  # no two are the same
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
        distributions=[distribution_of(question, results, _GROUPS.get(by)) for question in questions]
        if results
        else [],
        agreement=agreement_of(comparable, results, DISAGREEMENTS, skip) if policy.answers > 1 else None,
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


def newest_answers(queue: leaseq.Queue, criteria: Filter, limit: int) -> tuple[list[Answer], bool]:
    """The newest answers, and whether there may be more."""
    results: list[Answer] = []
    after, scanned = None, 0
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
        after, scanned = page.after, scanned + page.scanned
        if after is None or len(results) >= limit or scanned >= _SCAN_LIMIT:
            return results[:limit], after is not None or len(results) > limit


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
    questions = fields_of(queue.policy.form)
    if not questions:
        return None
    answers, has_more = newest_answers(queue, Filter(), READ_LIMIT)
    if not answers:
        return None
    for question in questions:
        distribution = distribution_of(question, answers)
        if distribution.bars:
            agreement = agreement_of([question], answers, 0)
            share = agreement.shares.get(question.label)
            return FirstQuestion(distribution, len(answers), has_more, share, agreement.disagreements)
    return None


@bp.post("/manage/<q>/items/<item:id>/reopen")
@needs("manager")
def reopen(q: str, id: str) -> Response | tuple[str, int]:
    """Let a finished item wait again, for anybody or for one person. If refused, the page shows the input
    again."""
    queue, name = existing_queue(q), request.form.get("to", "").strip()
    try:
        reason = request.form.get("reason", "").strip() or None
        items.reopen(queue, id, read_token(), to=name or None, reason=reason)
    except Invalid as error:
        return show_item(queue, id, error=_("Not reopened: %(why)s.", why=in_words(error))), 400
    flash(_("It is waiting again. The answer is kept with the item."))
    return redirect_to_item(q, id)


@bp.get("/manage/<q>/items/<item:id>/correct")
@needs("manager")
def correction(q: str, id: str) -> str | tuple[str, int]:
    """The form, filled with the answer to correct."""
    queue, token = existing_queue(q), read_token()
    item = queue.get(id)
    answer = next((answer for answer in item.answers if answer.token == token), None)
    if answer is None:
        return show_item(queue, id, error=_("This answer was replaced in the meantime.")), 409
    fields = fields_of(queue.policy.form)
    input = Input(inputs_of(fields, answer.result), gone_in_draft(fields, answer.result))
    return _correction(queue, item, token, input, {})


@bp.post("/manage/<q>/items/<item:id>/correct")
@needs("manager")
def correct(q: str, id: str) -> Response | str | tuple[str, int]:
    """Replace an answer by the manager's. If refused, the page shows the input again."""
    queue, token = existing_queue(q), read_token()
    if MORE_ROWS in request.form:
        input = form_view_of(queue.policy.form).submitted_input(request.form)
        return _correction(queue, queue.get(id), token, input, {})
    if UPLOAD in request.form:
        form, errors = with_sent_files(queue, id, token)
        input = form_view_of(queue.policy.form).submitted_input(form)
        return _correction(queue, queue.get(id), token, input, errors)
    try:
        send_answer(
            queue,
            id,
            lambda result, form: items.correct(queue, id, token, result, expected_form=form),
        )
    except Invalid as error:
        input = form_view_of(queue.policy.form).submitted_input(request.form)
        errors = reasons_by_field(error)
        return _correction(queue, queue.get(id), token, input, errors), 422
    flash(_("The answer is corrected. The earlier one is kept with the item."))
    return redirect_to_item(q, id)


def _correction(
    queue: leaseq.Queue, item: leaseq.Item, token: int, input: Input, errors: Mapping[str, str]
) -> str:
    form_view = form_view_of(queue.policy.form)
    errors_by_field = errors_at(form_view.fields, errors)
    return queue_page(
        "manage/correct.html",
        queue,
        item=item,
        token=token,
        answer=next((answer for answer in item.answers if answer.token == token), None),
        parts=parts_of(queue.policy.form, item.payload),
        fields_html=form_view.fields_html(input, errors_by_field),
        fields_by_name=form_view.by_name,
        asks_files=form_view.asks_files,
        errors=errors_by_field,
        back=url_for("manage.item", q=queue.name, id=item.id, **search_args()),
        search_args=search_args(),
    )
