"""Judges a run: is each item's history linearizable, do the guarantees hold in the calls and at the end?"""

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
    """What is wrong, with the calls that show it."""

    guarantee: str
    what: str
    calls: tuple[Call, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.guarantee}: {self.what}", *(f"    {call}" for call in self.calls)])


def judged(history: History, rules: Rules, queue: leaseq.Queue | None = None) -> list[Fault]:
    """All faults of a run. With ``queue``, what it is left with counts too."""
    faults = [*not_linearizable(history, rules), *double_leases(history, rules), *shrinking_tokens(history)]
    faults += out_of_order(history)
    if queue is not None:
        left = list(all_items(queue))
        faults += [*lost_items(history, left), *lost_answers(history, left)]
    return faults


def not_linearizable(history: History, rules: Rules) -> Iterator[Fault]:
    ghosts = [call for call in history.calls if call.reserves and call.outcome == "unknown"]
    for id, calls in _by_item(history.calls).items():
        for untold in ((), ghosts):  # most need none of these, and each makes the search wider
            item = Item(id, rules, untold, _untold(id, calls))
            if linearization(item.spans(calls), ItemState(), item.step) is not None:
                break
        else:
            yield Fault("linearizable", f"no order explains what was answered about {id}", tuple(calls))


def _untold(id: str, calls: Iterable[Call]) -> int:
    """How many grants of an item nobody may have been told of: as many as the attempts that are missing, and
    one behind the last."""
    granted = [call.granted for call in calls if call.granted and call.granted.id == id]
    attempts = {one.token: one.attempt for one in granted}
    return max(attempts.values(), default=0) - len(attempts) + 1


def _by_item(calls: Iterable[Call]) -> dict[str, list[Call]]:
    by_item: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        for id in {call.id, call.granted.id if call.granted else ""} - {""}:
            by_item[id].append(call)
    return by_item


def double_leases(history: History, rules: Rules) -> Iterator[Fault]:
    """Guarantee 2: a lease that was granted is its person's alone until it expires or they end it."""
    ends: dict[tuple[str, int], float] = defaultdict(float)
    first: dict[tuple[str, int], Call] = {}
    for call in _granting(history):
        key = call.granted.id, call.granted.token
        ends[key] = max(ends[key], call.granted.expires - rules.slack)
        first.setdefault(key, call)
    for call in history.of("finish", "abandon", "fail", "release"):
        key = call.id, call.token
        ends[key] = min(ends.get(key, inf), call.start)
    by_item: dict[str, list[int]] = defaultdict(list)
    for id, token in sorted(first):
        by_item[id].append(token)
    for id, tokens in by_item.items():
        for token, following in pairwise(tokens):
            before, after = first[id, token], first[id, following]
            if after.end < ends[id, token]:
                what = f"{id} was held by token {token}, and by token {following} at the same time"
                yield Fault("one holder", what, (before, after))


def shrinking_tokens(history: History) -> Iterator[Fault]:
    """Guarantee 3: a grant that began after another was answered has the larger token. What a person gets
    back who was granted it before is no new grant."""
    grants = sorted(_granting(history), key=lambda call: call.end)
    ends = [call.end for call in grants]
    largest = list(accumulate((call.granted.token for call in grants), max))
    known: dict[int, float] = {}
    for call in grants:
        known.setdefault(call.granted.token, call.end)
    untold: dict[str, float] = {}
    for call in history.calls:
        if call.reserves and call.outcome == "unknown":
            untold[call.person] = min(untold.get(call.person, inf), call.start)
    for call in grants:
        earlier = bisect_left(ends, call.start)
        got_back = known[call.granted.token] < call.start or untold.get(call.person, inf) < call.start
        if earlier and call.granted.token < largest[earlier - 1] and not got_back:
            yield Fault("fencing", f"token {call.granted.token} came after {largest[earlier - 1]}", (call,))


def _granting(history: History) -> Iterator[Any]:
    """The calls that were answered with a lease: `granted` is there in each."""
    return (call for call in history.calls if call.granted is not None)


def out_of_order(history: History) -> Iterator[Fault]:
    """Guarantee 5: what never left is handed out as it came. One producer; ids that sort."""
    firsts = sorted(
        (call.granted for call in history.calls if call.granted and call.granted.attempt == 1),
        key=lambda granted: granted.token,
    )
    ids = list(dict.fromkeys(granted.id for granted in firsts))
    for before, after in pairwise(ids):
        if before > after:
            yield Fault("order", f"{before} was handed out before {after}")


def lost_items(history: History, left: Iterable[leaseq.Item]) -> Iterator[Fault]:
    """Guarantee 1: each acknowledged item is in exactly one state, and no other has come into being."""
    counts = Counter(item.id for item in left)
    sent = {call.id for call in history.of("enqueue")}
    for id in sorted({call.id for call in history.of("enqueue") if call.outcome == "ok"} - set(counts)):
        yield Fault("conservation", f"{id} was acknowledged and is gone")
    for id, count in counts.items():
        if count > 1:
            yield Fault("conservation", f"{id} is in {count} states")
        if id not in sent:
            yield Fault("conservation", f"{id} came from nowhere")


def lost_answers(history: History, left: Iterable[leaseq.Item]) -> Iterator[Fault]:
    """Guarantees 6 and 7: each acknowledged answer is in exactly one record, and each that was refused and
    kept is there as a late one."""
    recorded: dict[tuple[str, int], list[Any]] = defaultdict(list)
    late: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for item in left:
        for answer in item.answers:
            recorded[item.id, answer.token].append(answer.result)
        for answer in item.late_answers:
            late[item.id, answer.token].append(answer.result)
    for call in history.of("finish"):
        key = call.id, call.token
        if call.outcome == "ok" and recorded[key] != [call.result]:
            what = f"{key}: {call.result!r} was taken; recorded: {recorded[key]}"
            yield Fault("no answer lost", what, (call,))
        if call.outcome == "lost" and call.kept and call.result not in late[key]:
            yield Fault("no answer lost", f"{key}: {call.result!r} was kept; there are {late[key]}", (call,))


def all_items(queue: leaseq.Queue) -> Iterator[leaseq.Item]:
    """What is left: nothing where the whole queue is gone."""
    for state in leaseq.STATES if queue.exists() else ():
        after: str | None = None
        while True:
            page = queue.page(state, limit=100, after=after)
            yield from page.items
            if page.after is None:
                break
            after = page.after
