"""Decisions on items: recording and reading them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from leaseq import validation
from leaseq.decisions import HOWS, Decision, How, decision_of
from leaseq.engine import arguments, replies
from leaseq.errors import Invalid, ItemNotFound
from leaseq.models import Filter, Json
from leaseq.queue.inspection import Following, Inspection

_BATCH = 250  # items per call


class Deciding(Inspection, Following):
    def decide(
        self,
        id: str,
        result: Json,
        *,
        how: How,
        tokens: Collection[int],
        agreement: float | None = None,
        by: str | None = None,
    ) -> bool:
        """Record what an item's answer is. ``tokens``: those of the answers that the decision was made from;
        if the item has others by now, nothing is recorded, and it returns False. It is safe to repeat: an
        equal decision stays as it is. Raises ItemNotFound."""
        if how not in HOWS:
            raise Invalid("how", "one_of", choices=HOWS, value=how)
        share = "" if agreement is None else repr(validation.number(agreement, "agreement", 0, 1))
        numbers = sorted(validation.integer(token, "tokens", 1, 2**53) for token in tokens)
        terms = "\t".join([how, share, arguments.author(by), ",".join(map(str, numbers))])
        values = validation.item_id(id), terms, validation.dump_json(result, "result")
        return self._commands.run("decide", *values).code != replies.OTHER_ANSWERS

    def decision(self, id: str) -> Decision | None:
        """The decision on an item; None until there is one. Raises ItemNotFound."""
        (outcome,) = self.outcomes([id])
        if outcome is None:
            raise ItemNotFound(self.name, id)
        return decision_of(outcome)

    def decisions(self, since: datetime | None = None, until: datetime | None = None) -> Iterator[Decision]:
        """The decisions on all items, in the order in which these got their first answers, in constant
        memory; only those made from ``since`` (inclusive) to ``until`` (exclusive)."""
        arguments.criteria(Filter(since=since, until=until), backwards=False)  # refuse now
        return self._decisions(since, until)

    def _decisions(self, since: datetime | None, until: datetime | None) -> Iterator[Decision]:
        ids: list[str] = []
        for item in self._walk("finished", _BATCH):
            if item.assignment == 1:  # the others of the item are listed, too
                ids.append(item.id)
            if len(ids) == _BATCH:
                for decision in self._decided(ids, since, until):
                    yield decision
                ids = []
        for decision in self._decided(ids, since, until):
            yield decision

    def _decided(
        self, ids: Collection[str], since: datetime | None, until: datetime | None
    ) -> list[Decision]:
        decisions = [decision_of(outcome) for outcome in self.outcomes(ids) if outcome]
        return [
            decision
            for decision in decisions
            if decision and (since is None or decision.at >= since) and (until is None or decision.at < until)
        ]
