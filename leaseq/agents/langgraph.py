"""People answer the interrupts of a LangGraph graph, and decide about calls of tools of a LangChain agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from leaseq.agents import Ask, Question, ask_all, decision, may_call
from leaseq.errors import NotAnswered
from leaseq.models import Answered

if TYPE_CHECKING:
    from langgraph.types import Command, Interrupt


def ask_people(ask: Ask, interrupts: Iterable[Interrupt[Any]]) -> Command[Any]:
    """Ask people what a graph stopped for, and return the command with which it goes on.

    ``interrupts``: ``graph.get_state(config).interrupts``, which is the same after a restart. The value of
    each is the payload, and its ``response_schema`` the form; without one, the queue's counts. A request of
    LangChain's `HumanInTheLoopMiddleware` becomes an approval of each action.

    An action that nobody decides is rejected; any other interrupt that nobody answers goes on with the
    ``default`` of ``ask``, or raises NotAnswered without one.
    Raises what ``ask`` raises, such as StillWaiting.
    """
    from langgraph.types import Command  # noqa: PLC0415

    stops = [(interrupt, list(_questions(interrupt))) for interrupt in interrupts]
    outcomes = iter(ask_all(ask, list(chain.from_iterable(questions for _, questions in stops))))
    return Command(
        resume={
            interrupt.id: _response(interrupt, [next(outcomes) for _ in questions])
            for interrupt, questions in stops
        }
    )


def _questions(interrupt: Interrupt[Any]) -> Iterable[Question]:
    value = interrupt.value
    if not _is_of_middleware(value):
        schema = _wrapped(interrupt.response_schema)
        yield Question(interrupt.id, value, schema and {"ask": schema})
        return
    allowed = {config["action_name"]: config["allowed_decisions"] for config in value["review_configs"]}
    for number, action in enumerate(value["action_requests"]):
        name, context = action["name"], action.get("description", "")
        yield may_call(f"{interrupt.id}/{number}", name, action["args"], allowed[name], context)


def _response(interrupt: Interrupt[Any], outcomes: list[Answered | NotAnswered]) -> Any:
    if _is_of_middleware(interrupt.value):
        actions = interrupt.value["action_requests"]
        decisions = map(_decision, actions, map(decision, outcomes))
        return {"decisions": list(decisions)}
    (outcome,) = outcomes
    if isinstance(outcome, NotAnswered):
        raise outcome
    is_wrapped = _wrapped(interrupt.response_schema) != interrupt.response_schema
    return outcome.result["answer"] if is_wrapped and outcome.how != "default" else outcome.result


def _is_of_middleware(value: object) -> bool:
    return isinstance(value, Mapping) and {"action_requests", "review_configs"} <= value.keys()


def _wrapped(schema: Any) -> Any:
    """The schema, as one of an object: a form asks for objects."""
    if not schema or schema.get("type") == "object":
        return schema
    return {"type": "object", "properties": {"answer": schema}, "required": ["answer"]}


def _decision(action: Mapping[str, Any], decided: Mapping[str, Any]) -> dict[str, Any]:
    """The decision in the middleware's words."""
    match decided["decision"]:
        case "approve":
            return {"type": "approve"}
        case "edit":
            return {"type": "edit", "edited_action": {"name": action["name"], "args": decided["arguments"]}}
        case refused:
            return {"type": refused, "message": decided.get("message") or decided["reason"]}
