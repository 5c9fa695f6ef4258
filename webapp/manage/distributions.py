"""The distribution of answers to a question, and the agreement of the people who gave them."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask_babel import format_decimal
from flask_babel import gettext as _

from leaseq import Answer, Json
from leaseq.webapp.forms.fields import Field
from leaseq.webapp.forms.parsing import is_number
from leaseq.webapp.i18n import number_text
from leaseq.webapp.search.matching import at_path, condition, words_of

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
