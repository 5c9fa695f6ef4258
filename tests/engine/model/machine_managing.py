"""Managers' calls as rules of the state machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import leaseq
from tests.engine import server_contents
from tests.engine.model.choices import SKILLS
from tests.engine.model.machine import WatchedMachine

PEOPLE = st.sampled_from(list(SKILLS))
INDEX = st.integers(0, 1_000)


class ManagedMachine(WatchedMachine):
    @precondition(lambda self: self.ids)
    @rule(
        index=INDEX,
        move=st.sampled_from(["revive", "revive", "release", "cancel", "remove"]),
        reserve_now=st.booleans(),
    )
    def manage(self, index: int, move: str, reserve_now: bool) -> None:
        self.move(index, move)
        for person in SKILLS if reserve_now else ():
            self.reserve_now(person)

    def move(self, index: int, move: str) -> None:
        id = self.id(index)
        call: Callable[[], object] = lambda: getattr(self.queue, move)(id)  # noqa: E731
        item = self.model.items.get(id)
        if item is None:
            with pytest.raises(leaseq.ItemNotFound):
                call()
        elif move == "remove":
            call()
            self.model.remove(id)
        elif move == "release":
            call()
            for part in item.parts:
                if part.state == "reserved":
                    self.model.give_back(part, "released", True, None)
        elif item.state == "finished":
            with pytest.raises(leaseq.Invalid):
                call()
        elif move == "cancel":
            call()
            self.model.cancel(item)
        else:
            call()
            self.model.revive(item)

    @precondition(lambda self: self.model.items and not self.plain)
    @rule(index=INDEX, person=PEOPLE)
    def assign(self, index: int, person: str) -> None:
        item = list(self.model.items.values())[index % len(self.model.items)]
        if self.model.assign(item, person):
            assert person in self.queue.assign(item.id, person).assigned_to
        else:
            with pytest.raises(leaseq.Invalid):
                self.queue.assign(item.id, person)

    @precondition(lambda self: self.model.items and not self.plain)
    @rule(index=INDEX)
    def unassign(self, index: int) -> None:
        items = list(self.model.items.values())
        assigned_items = [item for item in items if any(part.assigned for part in item.parts)]
        item = (assigned_items or items)[index % len(assigned_items or items)]
        assert self.queue.unassign(item.id).assigned_to == ()
        self.model.unassign_item(item)

    @precondition(lambda self: not self.plain)
    @rule(person=PEOPLE)
    def unassign_all(self, person: str) -> None:
        count = self.queue.unassign_all(person)
        assigned_items = [
            item
            for item in self.model.items.values()
            if any(part.assigned == person and part.state != "finished" for part in item.parts)
        ]
        assert count == len(assigned_items)
        for state in ("reserved", "inbound", "scheduled", "dead"):
            for part in sorted(self.model.parts(state), key=lambda part: part.rank_in_row):
                if part.assigned == person:
                    self.model.unassign_item(part.item, person)

    @precondition(lambda self: not self.plain)
    @rule(answers=st.integers(1, 3))
    def change_policy(self, answers: int) -> None:
        self.queue.configure(answers=answers)
        self.model.rules.answers = answers

    @rule(skip=st.integers(0, 3))
    def delete(self, skip: int) -> None:
        """Delete the queue and create it again: old leases are worthless; only its last token is kept."""
        if skip:  # rarely, as otherwise most queues would be short-lived
            return
        before, standing_names = self.model, self.standing()
        self.queue.delete()
        contents = server_contents.everything(self.server.redis, self.queue.name)
        assert len(contents) == (before.last_token > 0)
        self.hear()
        assert self.published_names == before.waiting_list.woken_names + standing_names
        self.published_names = []
        self.waiting.clear()
        self.make(before.rules, "server")
        self.model.last_token = before.last_token

    @rule()
    def pause_or_resume(self) -> None:
        if self.model.paused:
            self.queue.resume()
            self.model.resume()
        else:
            self.queue.pause()
            self.model.paused = True
