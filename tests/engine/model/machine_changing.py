"""Changes of items, as rules of the state machine."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import leaseq
from tests.engine import server_contents
from tests.engine.model.choices import BAND
from tests.engine.model.machine import numbers
from tests.engine.model.machine_managing import INDEX, ManagedMachine

NO = "no"  # no argument; None is a value


class ChangingMachine(ManagedMachine):
    @precondition(lambda self: self.model.items)
    @rule(
        index=INDEX,
        priority=st.sampled_from([NO, *BAND]),
        due_in=st.sampled_from([NO, NO, None, -7.5, 12.5]),
        requires=st.sampled_from([NO, NO, NO, (), ("fr",), ("fr", "legal")]),
        payload=st.booleans(),
        delay=st.sampled_from([NO, NO, NO, 0, 4.25]),
    )
    def change(
        self, index: int, priority: Any, due_in: Any, requires: Any, payload: bool, delay: Any
    ) -> None:
        changeable_parts = [
            part for state in ("inbound", "scheduled", "dead") for part in self.model.parts(state)
        ]
        likely_items = (
            [part.item for part in changeable_parts] if index % 5 else list(self.model.items.values())
        )
        item = (likely_items or list(self.model.items.values()))[index % max(len(likely_items), 1)]
        due = self.now + timedelta(seconds=due_in) if isinstance(due_in, float) else due_in
        new_payload = {"n": f"changed {next(numbers)}"} if payload else None
        changes: Any = {
            "priority": priority,
            "due": due,
            "requires": requires,
            "payload": new_payload or NO,
            "delay": delay,
        }
        if self.plain:
            del changes["requires"]
        changes = {name: value for name, value in changes.items() if value != NO}
        if not self.model.may_change(item, new_payload, delayed="delay" in changes):
            with pytest.raises(leaseq.Invalid):
                self.queue.change(item.id, **changes)
            return
        before = self.scores()
        for part in self.model.parts("inbound"):
            part.order = before[part.name]
        assert self.queue.change(item.id, **changes).payload == (new_payload or item.payload_now)
        item.band = BAND[priority] if priority != NO else item.band
        item.due = changes.get("due", item.due)
        item.requires = changes.get("requires", item.requires)
        self.model.change(item, new_payload, delay == 4.25, delay == 0, self.scores())

    @precondition(lambda self: self.model.items)
    @rule(index=INDEX, answers=st.integers(1, 4))
    def change_answers(self, index: int, answers: int) -> None:
        items = list(self.model.items.values())
        open_items = [item for item in items if item.state != "finished" and len(item.parts) > 1]
        likely_items = open_items if open_items and index % 5 else items
        item = likely_items[index % len(likely_items)]
        changed = self.queue.change(item.id, answers=answers)
        self.model.need(item, answers)
        assert (changed.state, changed.answers_needed) == (item.state, answers)

    def scores(self) -> dict[str, float]:
        """Return the scores of all that is waiting or scheduled."""
        return server_contents.scores(self.server.redis, self.queue.name)
