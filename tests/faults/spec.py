"""One item as a sequential object: what each call does to it, and which replies are possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from tests.faults.history import Call
from tests.faults.wgl import Span

Status = Literal["absent", "waiting", "scheduled", "held", "finished", "dead"]


@dataclass(frozen=True, slots=True)
class ItemState:
    status: Status = "absent"
    token: float = (
        0  # of the latest grant; for a grant without a reply, 0.5 more than the token of the grant before
    )
    person: str = ""
    expires: float = 0.0
    ending: str = ""  # how the latest grant ended
    result: str = ""
    failures: int = 0
    hidden_grants: int = 0  # number of grants whose replies were lost
    moves: frozenset[tuple[str, int]] = frozenset()  # abandons and fails that took effect, by their tokens


@dataclass(frozen=True)
class Rules:
    max_attempts: int
    lease_seconds: float
    slack: float = 0.0  # seconds by which the server's clock may differ from ours


class Item:
    """The calls about one item, and their possible effects.

    ``ghosts`` are reserves without a reply: each may have granted this item to its person, unknown to them;
    at most ``hidden_grants`` of them did.
    """

    def __init__(self, id: str, rules: Rules, ghosts: Sequence[Call] = (), hidden_grants: int = 0) -> None:
        self.id = id
        self._rules = rules
        self._ghosts = ghosts
        self._max_hidden_grants = hidden_grants

    def spans(self, calls: Iterable[Call]) -> list[Span[Call]]:
        by_key: dict[object, Span[Call]] = {}
        for call in sorted(filter(self._is_about, calls), key=lambda call: call.start):
            if call.outcome != "unknown":
                by_key[id(call)] = Span(call, call.start, call.end)
            elif call.kind == "renew":
                by_key[id(call)] = Span(call, call.start, inf)
            else:  # a retry has no effect besides that of the first call
                key = call.kind, call.person, call.token, repr(call.result)
                by_key.setdefault(key, Span(call, call.start, inf))
        return list(by_key.values())

    def _is_about(self, call: Call) -> bool:
        if call.outcome == "refused":  # nothing happened
            return False
        return call.id == self.id or (call.grant is not None and call.grant.id == self.id)

    def step(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        end = inf if call.outcome == "unknown" else call.end + self._rules.slack
        for current in self._reachable_states(state, end):
            for after in self._apply_move(current, call) if call.id == self.id else (current,):
                yield from self._apply_grant(after, call) if call.reserves else (after,)

    def _reachable_states(self, state: ItemState, time: float) -> set[ItemState]:
        """Return all states that the item can have reached by this time without a reply."""
        states, new_states = {state}, [state]
        while new_states:
            next_states = [
                after
                for before in new_states
                for after in self._next_states(before, time)
                if after not in states
            ]
            states.update(next_states)
            new_states = next_states
        return states

    def _next_states(self, state: ItemState, time: float) -> Iterator[ItemState]:
        if state.status == "held" and state.expires <= time:
            failures = state.failures + 1
            status: Status = "dead" if failures >= self._rules.max_attempts else "waiting"
            yield replace(state, status=status, ending="expired", failures=failures)
        elif state.status == "scheduled" and state.expires <= time:
            yield replace(state, status="waiting")
        elif state.status == "waiting" and state.hidden_grants < self._max_hidden_grants:
            for ghost in self._ghosts:
                if ghost.start <= time:
                    yield self._grant_hidden(state, ghost)

    def _grant_hidden(self, state: ItemState, call: Call) -> ItemState:
        """The item is held by somebody whose reply was lost, with the earliest possible expiry."""
        expires, token = call.start + self._rules.lease_seconds, int(state.token) + 0.5
        hidden_grants = state.hidden_grants + 1
        return replace(
            state,
            status="held",
            token=token,
            person=call.person,
            expires=expires,
            ending="",
            hidden_grants=hidden_grants,
        )

    def _apply_move(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        """Yield the states after an enqueue, or after a move of a lease's holder."""
        if call.outcome == "unknown":
            yield from self._take_effect(state, call)
            return
        if call.outcome == "gone":
            if state.status == "absent":
                yield state
            return
        if call.kind == "enqueue":
            if call.added == (state.status == "absent"):
                yield from self._take_effect(state, call)
            return
        if call.outcome == "lost":
            if not self._is_allowed(state, call) and not self._is_repeat(state, call):
                yield state
            return
        if self._is_repeat(state, call):
            yield state
        elif call.kind != "finish" or self._lateness_fits(state, call):
            yield from self._take_effect(state, call)

    def _take_effect(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        """Yield the states after the call took effect; none if it can't."""
        if call.kind == "enqueue":
            yield replace(state, status="waiting") if state.status == "absent" else state
            return
        if not self._is_allowed(state, call):
            if call.outcome == "unknown":
                yield state
            return
        match call.kind:
            case "finish":
                yield replace(state, status="finished", ending="finished", result=repr(call.result))
            case "abandon":
                moves = state.moves | {("abandon", call.token)}
                yield replace(state, status="waiting", ending="abandoned", moves=moves)
            case "renew":
                # Without a reply, it may have been processed late: then the lease is longer.
                earliest = call.start + self._rules.lease_seconds
                for expires in (call.grant.expires,) if call.grant else (earliest, inf):
                    yield replace(state, status="held", ending="", expires=expires)
            case "fail":
                failures = state.failures + 1
                is_dead = failures >= self._rules.max_attempts
                status: Status = "dead" if is_dead else "scheduled"
                moves = state.moves | {("fail", call.token)}
                yield replace(
                    state,
                    status=status,
                    ending="failed",
                    failures=failures,
                    expires=call.retry_at,
                    moves=moves,
                )

    def _is_allowed(self, state: ItemState, call: Call) -> bool:
        """Whether the caller's grant is the latest, and still valid for this call."""
        if (state.token, state.person) != (call.token, call.person):
            return False
        if state.status == "held":
            return True
        is_expired = state.ending == "expired"
        return is_expired and (
            (call.kind == "finish" and state.status in ("waiting", "dead"))
            or (call.kind == "renew" and state.status == "waiting")
        )

    def _is_repeat(self, state: ItemState, call: Call) -> bool:
        """Whether the same call has taken effect before: a repeated call succeeds again."""
        if call.kind != "finish":
            return (call.kind, call.token) in state.moves
        is_latest = (state.token, state.person) == (call.token, call.person)
        return is_latest and state.ending == "finished" and state.result == repr(call.result)

    def _lateness_fits(self, state: ItemState, call: Call) -> bool:
        """Whether `late` can be what the reply says. The server's clock is ours, within the slack."""
        if state.status != "held":
            return call.late
        slack = self._rules.slack
        if call.late:
            return state.expires <= call.end + slack
        return call.start - slack <= state.expires

    def _apply_grant(self, state: ItemState, call: Call) -> Iterator[ItemState]:
        """Yield the states after a reserve, or after the reserving part of a finish."""
        grant = call.grant
        if grant is None or grant.id != self.id:
            yield state
            return
        held_state = replace(
            state, status="held", token=grant.token, person=grant.person, expires=grant.expires, ending=""
        )
        if state.status == "held" and state.person == grant.person:
            is_hidden = state.token != int(state.token) and grant.token > state.token
            if state.token == grant.token or is_hidden:  # people at their limit get a lease that they hold
                yield held_state
        elif state.status == "waiting" and grant.token > state.token:
            yield held_state
