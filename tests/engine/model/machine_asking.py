"""Questions, as rules of the state machine."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import leaseq
from tests.engine.model.items import Item
from tests.engine.model.machine_managing import INDEX
from tests.engine.model.machine_replacing import ReplacingMachine


class AskingMachine(ReplacingMachine):
    @precondition(lambda self: self.has_room() and not self.plain)
    @rule(timeout=st.sampled_from([3.75, 14.75]))
    def ask(self, timeout: float) -> None:
        id = f"{len(self.ids)}"
        with pytest.raises(leaseq.StillWaiting):
            self.queue.ask({"n": id}, id=id, timeout=timeout, wait=0)
        expires = self.queue.get(id).expires
        item = Item(id, "normal", leaseq.Policy().max_attempts, expires=expires, is_asked=True)
        self.model.enter_expiring(item)
        assert self.model.enqueue(item, None, self.now)
        self.ids.append(id)

    @precondition(lambda self: self.ids)
    @rule(index=INDEX)
    def wait_for(self, index: int) -> None:
        """The outcome of any item, whether or not somebody asked for it."""
        id = self.id(index)
        item = self.model.items.get(id)
        if item is None:
            with pytest.raises(leaseq.ItemNotFound):
                self.queue.wait_for(id, 0)
            return
        if not item.is_asked and "expiring" in item.lists and item.parts[0].state != "finished":
            item.lists = {"questions"}
        item.is_asked = True
        results = [part.grants[-1].result for part in item.parts if part.has_answer]
        if item.state == "dead" or (item.state == "finished" and not results):
            with pytest.raises(leaseq.NotAnswered) as error:
                self.queue.wait_for(id, 0)
            answers = error.value.answers
        elif item.state == "finished":
            answers = self.queue.wait_for(id, 0).answers
        else:
            with pytest.raises(leaseq.StillWaiting):
                self.queue.wait_for(id, 0)
            return
        assert sorted(map(str, results)) == sorted(str(answer.result) for answer in answers)
