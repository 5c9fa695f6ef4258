"""Agents that ask people: adapters for three frameworks, and a server of the Model Context Protocol (`mcp`).

An adapter turns what its framework stopped for into what it goes on with, and asks people in between. No
module here imports a framework before it is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from leaseq.errors import LeaseqError, NotAnswered
from leaseq.form import approval
from leaseq.models import Answered, Json


class Ask(Protocol):
    """`Queue.ask`, or ``functools.partial(asker.ask, "refunds")``; ``partial`` sets ``timeout`` as well."""

    def __call__(self, payload: Json, /, *, id: str, form: Json, **options: Any) -> Answered: ...


class Question(NamedTuple):
    id: str  # the same after a restart
    payload: Json
    form: Json  # None: the queue's


def may_call(
    id: str, tool: str, arguments: Mapping[str, Json], allow: Sequence[str], context: str = ""
) -> Question:
    """The question whether an agent may call a tool. ``context`` is Markdown."""
    payload = {"action": tool, "arguments": dict(arguments), "context": context}
    return Question(id, payload, approval(tool, arguments, allow))


def ask_all(ask: Ask, questions: Sequence[Question]) -> list[Answered | NotAnswered]:
    """Put all questions, then wait for each: people may answer them at the same time, in any order."""
    if len(questions) > 1:
        for id, payload, form in questions:
            with suppress(LeaseqError):  # the call that waits raises it
                ask(payload, id=id, form=form, wait=0)
    outcomes: list[Answered | NotAnswered] = []
    for id, payload, form in questions:
        try:
            outcomes.append(ask(payload, id=id, form=form))
        except NotAnswered as error:
            outcomes.append(error)
    return outcomes


def decision(outcome: Answered | NotAnswered) -> Any:
    """What people decided, as `leaseq.form.approval` describes it. What nobody decides is rejected."""
    if isinstance(outcome, NotAnswered):
        return {"decision": "reject", "reason": str(outcome)}
    if outcome.how == "undecided" and any(answer.result != outcome.result for answer in outcome.answers):
        return {"decision": "reject", "reason": "the people who were asked disagree"}
    return outcome.result


def refusal(decision: Mapping[str, Any]) -> str:
    """What the model reads in place of the tool's result."""
    return str(decision["message"] if "message" in decision else f"Rejected: {decision['reason']}")
