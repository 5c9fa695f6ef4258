"""One item as a sequential object: what each call does to it, and which answers are possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from tests.faults.history import Call
from tests.faults.wgl import Span

Where = Literal["absent", "waiting", "scheduled", "held", "finished", "dead"]


@dataclass(frozen=True, slots=True)
class ItemState:
    where: Where = "absent"
    token: float = (
        0  # of the latest grant; a half more than the one before for a grant that nobody was told of
    )
    person: str = ""
    expires: float = 0.0
    how: str = ""  # the latest grant ended
    result: str = ""
    failures: int = 0
    untold: int = 0  # how many such grants there were
    over: frozenset[tuple[str, int]] = frozenset()  # abandons and fails that took effect, by their tokens


@dataclass(frozen=True)
class Rules:
    max_attempts: int
    lease_seconds: float
    slack: float = 0.0  # seconds by which the server's clock may be apart from ours


class Item:
    """The calls that are about one item, and the steps that they make.

    ``ghosts`` are reserves without an answer: each may have granted this item to its person, untold; at most
    ``untold`` of them did.
    """

    def __init__(self, id: str, rules: Rules, ghosts: Sequence[Call] = (), untold: int = 0) -> None:
        self.id = id
        self._rules = rules
        self._ghosts = ghosts
        self._most = untold

    def spans(self, calls: Iterable[Call]) -> list[Span[Call]]:
        by_id: dict[object, Span[Call]] = {}
        for call in sorted(filter(self._is_about, calls), key=lambda call: call.start):
            if call.outcome != "unknown":
                by_id[id(call)] = Span(call, call.start, call.end)
            elif call.what == "renew":
                by_id[id(call)] = Span(call, call.start, inf)
            else:  # sent again, it has no effect but what the first may still have
                same = call.what, call.person, call.token, repr(call.result)
                by_id.setdefault(same, Span(call, call.start, inf))
        return list(by_id.values())

    def _is_about(self, call: Call) -> bool:
        if call.outcome == "refused":  # nothing happened
            return False
        return call.id == self.id or (call.granted is not None and call.granted.id == self.id)

    def step(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        end = inf if call.outcome == "unknown" else call.end + self._rules.slack
        for now in self._by(state, end):
            for after in self._ended(now, call) if call.id == self.id else (now,):
                yield from self._granted(after, call) if call.reserves else (after,)

    def _by(self, state: ItemState, time: float) -> set[ItemState]:
        """All that it may have become without a word by that time."""
        reached, new = {state}, [state]
        while new:
            more = [
                after for before in new for after in self._by_itself(before, time) if after not in reached
            ]
            reached.update(more)
            new = more
        return reached

    def _by_itself(self, state: ItemState, time: float) -> Iterator[ItemState]:
        if state.where == "held" and state.expires <= time:
            failures = state.failures + 1
            where: Where = "dead" if failures >= self._rules.max_attempts else "waiting"
            yield replace(state, where=where, how="expired", failures=failures)
        elif state.where == "scheduled" and state.expires <= time:
            yield replace(state, where="waiting")
        elif state.where == "waiting" and state.untold < self._most:
            for ghost in self._ghosts:
                if ghost.start <= time:
                    yield self._untold(state, ghost)

    def _untold(self, state: ItemState, call: Call) -> ItemState:
        """Held by somebody who was not told, at the earliest until then."""
        expires, token = call.start + self._rules.lease_seconds, int(state.token) + 0.5
        untold = state.untold + 1
        return replace(
            state, where="held", token=token, person=call.person, expires=expires, how="", untold=untold
        )

    def _ended(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        """enqueue, and the moves of a lease's holder."""
        if call.outcome == "unknown":
            yield from self._done(state, call)
            return
        if call.outcome == "gone":
            if state.where == "absent":
                yield state
            return
        if call.what == "enqueue":
            if call.added == (state.where == "absent"):
                yield from self._done(state, call)
            return
        if call.outcome == "lost":
            if not self._may(state, call) and not self._is_same(state, call):
                yield state
            return
        if self._is_same(state, call):
            yield state
        elif call.what != "finish" or self._is_lateness(state, call):
            yield from self._done(state, call)

    def _done(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        """The state after it took effect; none where it can't."""
        if call.what == "enqueue":
            yield replace(state, where="waiting") if state.where == "absent" else state
            return
        if not self._may(state, call):
            if call.outcome == "unknown":
                yield state
            return
        match call.what:
            case "finish":
                yield replace(state, where="finished", how="finished", result=repr(call.result))
            case "abandon":
                over = state.over | {("abandon", call.token)}
                yield replace(state, where="waiting", how="abandoned", over=over)
            case "renew":
                # Without an answer it may be read late: then the lease is longer.
                earliest = call.start + self._rules.lease_seconds
                for expires in (call.granted.expires,) if call.granted else (earliest, inf):
                    yield replace(state, where="held", how="", expires=expires)
            case "fail":
                failures = state.failures + 1
                dead = failures >= self._rules.max_attempts
                where: Where = "dead" if dead else "scheduled"
                over = state.over | {("fail", call.token)}
                yield replace(
                    state, where=where, how="failed", failures=failures, expires=call.until, over=over
                )

    def _may(self, state: ItemState, call: Call) -> bool:
        """Whether the caller's grant is the latest and is good for this."""
        if (state.token, state.person) != (call.token, call.person):
            return False
        if state.where == "held":
            return True
        taken_back = state.how == "expired"
        return taken_back and (
            (call.what == "finish" and state.where in ("waiting", "dead"))
            or (call.what == "renew" and state.where == "waiting")
        )

    def _is_same(self, state: ItemState, call: Call) -> bool:
        """Whether this very call has taken effect before: sent twice, it succeeds twice."""
        if call.what != "finish":
            return (call.what, call.token) in state.over
        mine = (state.token, state.person) == (call.token, call.person)
        return mine and state.how == "finished" and state.result == repr(call.result)

    def _is_lateness(self, state: ItemState, call: Call) -> bool:
        """Whether `late` may be what the answer says. A server's clock is ours, but for the slack."""
        if state.where != "held":
            return call.late
        slack = self._rules.slack
        if call.late:
            return state.expires <= call.end + slack
        return call.start - slack <= state.expires

    def _granted(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        """A reserve, and the second half of a finish that reserves."""
        granted = call.granted
        if granted is None or granted.id != self.id:
            yield state
            return
        held = replace(
            state, where="held", token=granted.token, person=granted.person, expires=granted.expires, how=""
        )
        if state.where == "held" and state.person == granted.person:
            untold = state.token != int(state.token) and granted.token > state.token
            if state.token == granted.token or untold:  # full hands get back what they hold
                yield held
        elif state.where == "waiting" and granted.token > state.token:
            yield held
