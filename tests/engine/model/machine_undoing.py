"""Undo by people, as rules of the state machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import leaseq
from leaseq.queue.consumer import UNDO_SECONDS
from tests.engine.model.machine import numbers
from tests.engine.model.machine_changing import ChangingMachine
from tests.engine.model.machine_managing import INDEX


class UndoingMachine(ChangingMachine):
    @precondition(lambda self: self.leases)
    @rule(index=INDEX, late=st.booleans())
    def undo(self, index: int, late: bool) -> None:
        """Take a finish back, mostly in time."""
        lease = self.lease(index)
        if late:
            self.clock.tick(UNDO_SECONDS + 1)
        part = self.latest(lease, "finished")
        if part is None:
            self.check_refused(lease, lambda: self.queue.undo_finish(lease))
        elif (self.now - (part.finished_at or self.now)).total_seconds() > UNDO_SECONDS:
            with pytest.raises(leaseq.Invalid):
                self.queue.undo_finish(lease)
        else:
            result = part.grants[-1].result
            request = f"undo-{next(numbers)}"
            new_lease = self.queue.undo_finish(lease, request_id=request)
            assert (new_lease.draft, new_lease.token) == (result, self.model.last_token + 1)
            self.model.undo(part, new_lease.token, new_lease.expires_at)
            assert new_lease.attempt == part.attempts
            self.leases.append(new_lease)
            self.undone_finishes.append((lease, request, new_lease))

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, late=st.booleans())
    def take_back(self, index: int, late: bool) -> None:
        """Take an abandon or a fail back, mostly in time."""
        lease = self.lease(index)
        if late:
            self.clock.tick(UNDO_SECONDS + 1)
        part = self.latest(lease, "abandoned", "failed")
        if part is None:
            self.check_refused(lease, lambda: self.queue.take_back(lease))
            return
        ended_at = self.queue.get(lease.id).history[-1].ended_at if len(part.item.parts) == 1 else None
        request = f"undo-{next(numbers)}"
        try:
            new_lease = self.queue.take_back(lease, request_id=request)
        except leaseq.Invalid:
            assert ended_at is None or (self.now - ended_at).total_seconds() > UNDO_SECONDS
        except leaseq.LeaseLost:
            assert not self.model.may_undo(part)
        else:
            assert self.model.may_undo(part)
            assert ended_at is None or (self.now - ended_at).total_seconds() <= UNDO_SECONDS
            assert new_lease.token == self.model.last_token + 1
            self.model.take_back(part, new_lease.token, new_lease.expires_at)
            assert new_lease.attempt == part.attempts
            self.leases.append(new_lease)

    @precondition(lambda self: self.undone_finishes)
    @rule(index=INDEX)
    def undo_again(self, index: int) -> None:
        """Repeat an undo after a lost reply: it returns the same lease as long as they hold it."""
        lease, request, new_lease = self.undone_finishes[-1 - index % len(self.undone_finishes)]
        call: Callable[[], leaseq.Lease] = lambda: self.queue.undo_finish(lease, request_id=request)  # noqa: E731
        part = self.latest(new_lease, "held")
        if part is None:
            self.check_refused(lease, call)
        else:
            assert (call().token, call().expires_at) == (new_lease.token, part.grants[-1].expires)
