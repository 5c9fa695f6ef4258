"""The answers to the first question of a queue's form, for its dashboard."""

from __future__ import annotations

from dataclasses import dataclass

import leaseq
from leaseq import Filter
from leaseq.webapp.forms import fields_of
from leaseq.webapp.manage.answers_page import newest_answers
from leaseq.webapp.manage.distribution import Distribution, agreement_of, distribution_of

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
