"""Managers' calls on answers, as rules of the state machine."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.model.choices import SKILLS
from tests.engine.model.items import Part
from tests.engine.model.machine import numbers
from tests.engine.model.machine_managing import INDEX
from tests.engine.model.machine_undoing import UndoingMachine
from tests.support.refused import refused


class ReplacingMachine(UndoingMachine):
    @precondition(lambda self: self.answered_parts())
    @rule(index=INDEX, to=st.sampled_from([None, None, *SKILLS]), twice=st.booleans())
    def reopen(self, index: int, to: str | None, twice: bool) -> None:
        part = self.finished_part(index)
        id, token = part.item.id, part.grants[-1].token
        person = None if self.plain else to
        if any(one.state == "dead" for one in part.item.parts):
            with refused("state", "id", what="dead_part"):
                self.queue.reopen(id, token, to=person)
            return
        if person and self.model.has_another(part, person):
            with refused("holds_or_answered", what="part"):
                self.queue.reopen(id, token, to=person)
            return
        for _ in range(1 + twice):  # a repeated call changes nothing
            item = self.queue.reopen(id, token, to=person, reason="look again")
        assert (token, "reopened", "look again") in [(g.token, g.how, g.reason) for g in item.history]
        self.model.reopen(part, person)

    @precondition(lambda self: self.answered_parts())
    @rule(index=INDEX, by=st.sampled_from(["boss", "boss", *SKILLS]))
    def correct(self, index: int, by: str) -> None:
        part = self.finished_part(index)
        id, token, result = part.item.id, part.grants[-1].token, {"corrected": next(numbers)}
        if self.model.has_another(part, by):
            with refused("holds_or_answered", what="part"):
                self.queue.correct(id, token, result, by=by)
            return
        item = self.queue.correct(id, token, result, by=by)
        (answer,) = (one for one in item.answers if one.result == result)
        assert (answer.person, answer.late) == (by, False)
        self.model.correct(part, answer.token, by, result, self.now)
        assert self.queue.correct(id, token, result, by=by) == item, "a repeated call changes nothing"
        with refused("token", what="answer"):
            self.queue.correct(id, token, {"corrected": "otherwise"}, by=by)

    def finished_part(self, index: int) -> Part:
        parts = self.answered_parts()
        return parts[index % len(parts)]

    def answered_parts(self) -> list[Part]:
        return [part for part in map(self.model.part, self.model.finished) if part.has_answer]
