"""People decide about calls of tools of the OpenAI Agents SDK (``needs_approval``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leaseq.agents import Ask, ask_all, decision, may_call, refusal
from leaseq.models import Json

if TYPE_CHECKING:
    from agents import RunState

ALLOW = ("approve", "reject", "respond")  # the SDK can't change the arguments of a call


def ask_people(ask: Ask, state: RunState[Any, Any], *, run: str) -> RunState[Any, Any]:
    """Ask people about the calls for which a run has stopped, and return its state, with which it goes on.

    ``state``: ``result.to_state()``, or after a restart `RunState.from_json` of what was stored. ``run``
    names the run: the same after a restart, and another for each other run, since models use ids of calls
    again.

    A call that nobody decides is rejected. Raises what ``ask`` raises, such as StillWaiting.
    """
    items = state.get_interruptions()
    questions = [
        may_call(f"{run}/{item.call_id}", item.name or "", _arguments(item.arguments), ALLOW)
        for item in items
    ]
    for item, outcome in zip(items, ask_all(ask, questions), strict=True):
        if decision(outcome)["decision"] == "approve":
            state.approve(item)
        else:
            state.reject(item, rejection_message=refusal(decision(outcome)))
    return state


def _arguments(text: str | None) -> dict[str, Json]:
    """The arguments as the model wrote them, which may be no JSON."""
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        arguments = text
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}
