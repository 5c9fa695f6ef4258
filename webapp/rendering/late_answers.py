"""Which of an item's late answers a manager may still use."""

from __future__ import annotations

import leaseq

_COUNTED = ("finished", "reopened", "corrected")
"""How a grant ended whose answer was, or is, one of the item's."""


def unused_answers(item: leaseq.Item) -> list[leaseq.Answer]:
    """The late answers without those that counted before a manager took them back or replaced them."""
    counted_tokens = {grant.token for grant in item.history if grant.how in _COUNTED}
    return [answer for answer in item.late_answers if answer.token not in counted_tokens]
