"""The late answers of an item that a manager may still use."""

from __future__ import annotations

import leaseq

_COUNTED = ("finished", "reopened", "corrected")
"""Outcomes of grants whose answer counts, or counted, as one of the item's."""


def unused_answers(item: leaseq.Item) -> list[leaseq.Answer]:
    """The late answers, except those that counted until a manager set them aside or replaced them."""
    counted_tokens = {grant.token for grant in item.history if grant.how in _COUNTED}
    return [answer for answer in item.late_answers if answer.token not in counted_tokens]
