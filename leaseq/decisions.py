"""Decisions: what an item's answer is, and who or what settled that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast, get_args

from leaseq.models import Json, Outcome

How = Literal["single", "agreed", "majority", "reviewed", "corrected", "undecided"]
"""How an item was settled: by its only answer; by as many equal answers as were asked for; by most of the
answers; by a person who reviewed them, or corrected one. undecided: nothing settles what they differ in."""
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, slots=True)
class Decision:
    """What an item's answer is. It counts while the item has the answers that it was made from."""

    id: str
    payload: Json
    result: Json  # None if undecided
    how: How
    agreement: float | None  # the share of the answers that agree, 0 to 1, where there are several
    by: str | None  # the person who reviewed or corrected it
    at: datetime


def decision_of(outcome: Outcome) -> Decision | None:
    """The decision on an item: the recorded one; else, once it is finished, its only answer; with several
    answers, it is undecided. None if it is not finished, or has no answer."""
    if outcome.decision is not None:
        result, how, agreement, by, at = outcome.decision
        return Decision(outcome.id, outcome.payload, result, cast("How", how), agreement, by, at)
    answers = [answer for answer in outcome.answers if answer.stands]
    if outcome.state != "finished" or not answers:
        return None
    at = max(answer.finished_at for answer in answers)
    if len(answers) > 1:
        return Decision(outcome.id, outcome.payload, None, "undecided", None, None, at)
    return Decision(outcome.id, outcome.payload, answers[0].result, "single", None, None, at)
