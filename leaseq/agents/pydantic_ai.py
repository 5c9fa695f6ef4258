"""People decide about the deferred calls of tools of Pydantic AI, and answer its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaseq.agents import Ask, Question, ask_all, decision, may_call, refusal
from leaseq.errors import NotAnswered

if TYPE_CHECKING:
    from pydantic_ai import DeferredToolRequests, DeferredToolResults

ALLOW = ("approve", "edit", "reject", "respond")


def ask_people(ask: Ask, requests: DeferredToolRequests, *, run: str) -> DeferredToolResults:
    """Ask people about the calls for which a run has stopped, and return the results with which it goes on.

    ``requests``: the output of the stopped run. A call that requires approval is approved, changed or denied.
    A call that its tool deferred by ``CallDeferred({"form": form}, kind="question")`` is answered: its
    arguments are the payload, and without a form the queue's counts. Other calls are left to the caller:
    ``requests.remaining(results)``. ``run`` names the run: the same after a restart, and another for each
    other run, since models use ids of calls again.

    A call that nobody decides is denied, and one that nobody answers has failed. Raises what ``ask`` raises,
    such as StillWaiting.
    """
    from pydantic_ai import ToolApproved, ToolDenied, ToolFailed  # noqa: PLC0415

    results = requests.build_results()
    calls = [*requests.approvals, *requests.calls]
    calls = [call for call in calls if requests.kind(call.tool_call_id) != "external"]
    questions = []
    for call in calls:
        id, arguments = f"{run}/{call.tool_call_id}", call.args_as_dict()
        form = requests.metadata.get(call.tool_call_id, {}).get("form")
        is_question = requests.kind(call.tool_call_id) == "question"
        question = may_call(id, call.tool_name, arguments, ALLOW)
        questions.append(Question(id, arguments, form) if is_question else question)
    for call, outcome in zip(calls, ask_all(ask, questions), strict=True):
        if requests.kind(call.tool_call_id) == "question":
            results.calls[call.tool_call_id] = (
                ToolFailed(str(outcome)) if isinstance(outcome, NotAnswered) else outcome.result
            )
            continue
        decided = decision(outcome)
        is_approved = decided["decision"] in ("approve", "edit")
        results.approvals[call.tool_call_id] = (
            ToolApproved(override_args=decided.get("arguments"))
            if is_approved
            else ToolDenied(refusal(decided))
        )
    return results
