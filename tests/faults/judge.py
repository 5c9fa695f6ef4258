"""Judges a run: is each item's history linearizable, and do the guarantees hold, during the run and at its
end?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf
from typing import Any

import leaseq
from tests.faults.history import Call, History
from tests.faults.spec import Item, ItemState, Rules
from tests.faults.wgl import linearization


@dataclass(frozen=True)
class Fault:
    """A violation, with the calls that show it."""

    guarantee: str
    description: str
    calls: tuple[Call, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.guarantee}: {self.description}", *(f"    {call}" for call in self.calls)])


def find_faults(history: History, rules: Rules, queue: leaseq.Queue | None = None) -> list[Fault]:
    """Return all faults of a run. With ``queue``, its final content is judged, too."""
    faults = [*unexplained_items(history, rules), *double_leases(history, rules), *shrinking_tokens(history)]
    faults += swapped_items(history)
    if queue is not None:
        items = list(all_items(queue))
        faults += [*lost_items(history, items), *lost_answers(history, items)]
    return faults


def unexplained_items(history: History, rules: Rules) -> Iterator[Fault]:
    ghosts = [call for call in history.calls if call.reserves and call.outcome == "unknown"]
    for id, calls in _by_item(history.calls).items():
        for candidates in ((), ghosts):  # most items don't need ghosts, and each makes the search longer
            item = Item(id, rules, candidates, _hidden_grants(id, calls))
            if linearization(item.spans(calls), ItemState(), item.step) is not None:
                break
        else:
            yield Fault("linearizable", f"no order explains the replies about {id}", tuple(calls))


def _hidden_grants(id: str, calls: Iterable[Call]) -> int:
    """Return how many grants of an item may have reached nobody: one for each missing attempt, and one after
    the last."""
    grants = [call.grant for call in calls if call.grant and call.grant.id == id]
    attempts = {grant.token: grant.attempt for grant in grants}
    return max(attempts.values(), default=0) - len(attempts) + 1


def _by_item(calls: Iterable[Call]) -> dict[str, list[Call]]:
    by_item: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        for id in {call.id, call.grant.id if call.grant else ""} - {""}:
            by_item[id].append(call)
    return by_item


def double_leases(history: History, rules: Rules) -> Iterator[Fault]:
    """Guarantee 2: only its person holds a granted lease, until it expires or they end it."""
    ends: dict[tuple[str, int], float] = defaultdict(float)
    first_calls: dict[tuple[str, int], Call] = {}
    for call in _grant_calls(history):
        key = call.grant.id, call.grant.token
        ends[key] = max(ends[key], call.grant.expires - rules.slack)
        first_calls.setdefault(key, call)
    for call in history.calls_of("finish", "abandon", "fail", "release"):
        key = call.id, call.token
        ends[key] = min(ends.get(key, inf), call.start)
    by_item: dict[str, list[int]] = defaultdict(list)
    for id, token in sorted(first_calls):
        by_item[id].append(token)
    for id, tokens in by_item.items():
        for token, next_token in pairwise(tokens):
            before, after = first_calls[id, token], first_calls[id, next_token]
            if after.end < ends[id, token]:
                description = f"{id} was held by token {token}, and by token {next_token} at the same time"
                yield Fault("one holder", description, (before, after))


def shrinking_tokens(history: History) -> Iterator[Fault]:
    """Guarantee 3: a grant that began after the reply to another one has a larger token. A person's own lease
    that is returned again is no new grant."""
    grants = sorted(_grant_calls(history), key=lambda call: call.end)
    ends = [call.end for call in grants]
    largest = list(accumulate((call.grant.token for call in grants), max))
    first_ends: dict[int, float] = {}
    for call in grants:
        first_ends.setdefault(call.grant.token, call.end)
    ghost_starts: dict[str, float] = {}
    for call in history.calls:
        if call.reserves and call.outcome == "unknown":
            ghost_starts[call.person] = min(ghost_starts.get(call.person, inf), call.start)
    for call in grants:
        earlier_count = bisect_left(ends, call.start)
        is_repeat = (
            first_ends[call.grant.token] < call.start or ghost_starts.get(call.person, inf) < call.start
        )
        if earlier_count and call.grant.token < largest[earlier_count - 1] and not is_repeat:
            yield Fault(
                "fencing", f"token {call.grant.token} came after {largest[earlier_count - 1]}", (call,)
            )


def _grant_calls(history: History) -> Iterator[Any]:
    """The calls that returned a lease; `grant` is set in each of them."""
    return (call for call in history.calls if call.grant is not None)


def swapped_items(history: History) -> Iterator[Fault]:
    """Guarantee 5: items that never left inbound are handed out in the order of arrival. It assumes one
    producer, and ids in sorted order."""
    first_grants = sorted(
        (call.grant for call in history.calls if call.grant and call.grant.attempt == 1),
        key=lambda grant: grant.token,
    )
    ids = list(dict.fromkeys(grant.id for grant in first_grants))
    for before, after in pairwise(ids):
        if before > after:
            yield Fault("order", f"{before} was handed out before {after}")


def lost_items(history: History, items: Iterable[leaseq.Item]) -> Iterator[Fault]:
    """Guarantee 1: each acknowledged item is in exactly one state, and there are no others."""
    counts = Counter(item.id for item in items)
    sent_ids = {call.id for call in history.calls_of("enqueue")}
    for id in sorted({call.id for call in history.calls_of("enqueue") if call.outcome == "ok"} - set(counts)):
        yield Fault("conservation", f"{id} was acknowledged and is gone")
    for id, count in counts.items():
        if count > 1:
            yield Fault("conservation", f"{id} is in {count} states")
        if id not in sent_ids:
            yield Fault("conservation", f"{id} came from nowhere")


def lost_answers(history: History, items: Iterable[leaseq.Item]) -> Iterator[Fault]:
    """Guarantees 6 and 7: each acknowledged answer is recorded exactly once, and each that was refused but
    kept is a late answer."""
    answers: dict[tuple[str, int], list[Any]] = defaultdict(list)
    late_answers: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for item in items:
        for answer in item.answers:
            answers[item.id, answer.token].append(answer.result)
        for answer in item.late_answers:
            late_answers[item.id, answer.token].append(answer.result)
    for call in history.calls_of("finish"):
        key = call.id, call.token
        if call.outcome == "ok" and answers[key] != [call.result]:
            description = f"{key}: {call.result!r} was taken; recorded: {answers[key]}"
            yield Fault("no answer lost", description, (call,))
        if call.outcome == "lost" and call.answer_kept and call.result not in late_answers[key]:
            yield Fault(
                "no answer lost", f"{key}: {call.result!r} was kept; there are {late_answers[key]}", (call,)
            )


def all_items(queue: leaseq.Queue) -> Iterator[leaseq.Item]:
    """Yield the items left in the queue; none if the whole queue is gone."""
    for state in leaseq.STATES if queue.exists() else ():
        after: str | None = None
        while True:
            page = queue.page(state, limit=100, after=after)
            yield from page.items
            if page.after is None:
                break
            after = page.after
