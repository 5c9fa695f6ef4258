"""The adapters of `leaseq.agents` with the programs of docs/ask.md. Each is stopped while its questions wait,
and is started again, as a new module, after people answered.

Tests import the frameworks, which take seconds: only the worker that runs the tests spends them.
"""

from __future__ import annotations

import asyncio
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import leaseq
from leaseq.agents import decision, langgraph
from leaseq.form import approval
from tests.meta.docs.test_examples import ROOT, blocks
from tests.support.leases import not_none
from tests.support.waiting import eventually

Start = Callable[..., dict[str, Any]]
CALLS = [("one", 80), ("two", 90), ("three", 100)]  # of the tool refund: order and amount
EDIT = {"decision": "edit", "arguments": {"order": "one", "amount": 60}}


@pytest.fixture(autouse=True)
def event_loop() -> Iterator[None]:
    """A loop of the test's own: the ``run_sync`` of frameworks use the thread's, and leave it as it is."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    with suppress(RuntimeError):  # there is no other one
        asyncio.get_event_loop_policy().get_event_loop().close()
    asyncio.set_event_loop(None)


@pytest.fixture
def start(queue: leaseq.Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start the example that has this text; its questions wait so long."""
    monkeypatch.chdir(tmp_path)
    queue.configure()

    def run_block(marker: str, wait: float | None, **options: Any) -> dict[str, Any]:
        (code,) = (code for code in blocks("docs/ask.md", "python") if marker in code)
        names: dict[str, Any] = {"ask": partial(queue.ask, wait=wait, **options)}
        exec(compile(code, marker, "exec", dont_inherit=True), names)
        return names

    return run_block


def answer(queue: leaseq.Queue, results: Sequence[leaseq.Json]) -> list[leaseq.Json]:
    """Answer the open questions, and return their payloads. None: the question is cancelled."""
    payloads = []
    for result in results:
        lease = not_none(queue.reserve("ann"))
        payloads.append(lease.payload)
        if result is None:
            queue.cancel(lease.id)
        else:
            queue.finish(lease, result)
    assert queue.reserve("ann") is None
    return payloads


def test_graph_of_langgraph(start: Start, queue: leaseq.Queue) -> None:
    names = start("StateGraph", 0)
    assert names["run"]("40-1182", 50) == "yes"
    with pytest.raises(leaseq.StillWaiting):
        names["run"]("40-1183", 80)
    assert answer(queue, [{"answer": "no"}]) == [{"text": "Refund 80 EUR for order 40-1183?"}]
    assert start("StateGraph", None)["run"]("40-1183", 80) == "no"
    with pytest.raises(leaseq.StillWaiting):
        names["run"]("40-1184", 80)
    answer(queue, [None])
    with pytest.raises(leaseq.NotAnswered):
        start("StateGraph", None)["run"]("40-1184", 80)
    assert start("StateGraph", None, default="no")["run"]("40-1184", 80) == "no"


def test_agent_of_langchain(queue: leaseq.Queue, tmp_path: Path) -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import HumanInTheLoopMiddleware
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.checkpoint.sqlite import SqliteSaver

    class ScriptedChatModel(GenericFakeChatModel):
        def bind_tools(self, *_arguments: Any, **_options: Any) -> Any:
            return self

    queue.configure()
    refunded: list[tuple[str, int]] = []
    config: Any = {"configurable": {"thread_id": "one"}}
    calls: Any = [
        {"name": "refund", "args": {"order": order, "amount": amount}, "id": order} for order, amount in CALLS
    ]

    def refund(order: str, amount: int) -> str:
        """Refund an order."""
        refunded.append((order, amount))
        return "refunded"

    def go_on(messages: list[AIMessage], wait: float | None, begin: dict[str, Any] | None) -> dict[str, Any]:
        middleware = HumanInTheLoopMiddleware(
            {"refund": {"allowed_decisions": ["approve", "edit", "reject"]}}
        )
        with SqliteSaver.from_conn_string(str(tmp_path / "agent.sqlite")) as checkpointer:
            model = ScriptedChatModel(messages=iter(messages))
            agent: Any = create_agent(model, [refund], middleware=[middleware], checkpointer=checkpointer)
            if begin is not None:
                agent.invoke(begin, config)
            ask = partial(queue.ask, wait=wait)
            result: dict[str, Any] = agent.invoke(
                langgraph.ask_people(ask, agent.get_state(config).interrupts), config
            )
            return result

    with pytest.raises(leaseq.StillWaiting):
        go_on([AIMessage("", tool_calls=calls)], 0, {"messages": [("user", "Refund all")]})
    payloads = answer(queue, [EDIT, None, {"decision": "reject", "reason": "too late"}])
    assert [(payload["action"], payload["arguments"]) for payload in payloads] == [
        ("refund", call["args"]) for call in calls
    ]
    messages = go_on([AIMessage("done")], None, None)["messages"]
    assert (refunded, messages[-1].content) == ([("one", 60)], "done")
    told = {message.tool_call_id: message.content for message in messages if isinstance(message, ToolMessage)}
    assert str(told["one"]).endswith("refunded")
    assert "was cancelled" in told["two"]
    assert "too late" in told["three"]


def test_run_of_openai_agents(start: Start, queue: leaseq.Queue) -> None:
    from agents import set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    set_tracing_disabled(True)
    calls = [
        function_call("refund", {"order": order, "amount": amount}, call_id=order) for order, amount in CALLS
    ]
    calls.append(function_call("refund", "[]", call_id="four"))
    names = start("RunState", 0)
    names["agent"].model = ScriptedModel([calls])
    with pytest.raises(leaseq.StillWaiting):
        names["run"]("ticket", "Refund all")
    assert queue.get("ticket/one").state == "inbound"
    approve = {"decision": "approve"}
    payloads = answer(
        queue, [approve, None, {"decision": "respond", "message": "Ask again on Monday"}, approve]
    )
    assert [payload["arguments"] for payload in payloads] == [
        *({"order": order, "amount": amount} for order, amount in CALLS),
        {"arguments": []},
    ]
    names = start("RunState", None)
    model = names["agent"].model = ScriptedModel([[assistant_message("done")]])
    assert names["run"]("ticket", "Refund all") == "done"
    told = {item["call_id"]: item["output"] for item in model.calls[0].input if "output" in item}
    assert told["one"] == "refunded 80 for one"
    assert "was cancelled" in told["two"]
    assert told["three"] == "Ask again on Monday"
    assert not Path("ticket.json").exists()


def test_run_of_pydantic_ai(start: Start, queue: leaseq.Queue) -> None:
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    calls = [
        ToolCallPart("refund", {"order": order, "amount": amount}, tool_call_id=order)
        for order, amount in CALLS
    ]
    calls += [ToolCallPart("ask_colleague", {"question": "Why?"}, tool_call_id=id) for id in ("four", "five")]
    seen: list[ModelMessage] = []

    def first(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=calls)

    def second(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        seen.extend(messages)
        return ModelResponse(parts=[TextPart("done")])

    names = start("ModelMessage", 0)
    names["agent"].model = FunctionModel(first)
    with pytest.raises(leaseq.StillWaiting):
        names["run"]("ticket", "Refund all")
    payloads = answer(queue, [EDIT, None, {"decision": "approve"}, "The parcel is lost", None])
    assert payloads[3] == {"question": "Why?"}
    assert queue.get("ticket/one").state == "finished"
    names = start("ModelMessage", None)
    names["agent"].model = FunctionModel(second)
    assert names["run"]("ticket", "Refund all") == "done"
    told = {
        part.tool_call_id: str(part.content)
        for message in seen
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }
    assert told["one"] == "refunded 60 for one"
    assert "was cancelled" in told["two"]
    assert told["three"] == "refunded 100 for three"
    assert told["four"] == "The parcel is lost"


def test_call_about_which_people_disagree_is_rejected(queue: leaseq.Queue) -> None:
    queue.configure(answers=2)
    form = approval("refund", {"amount": 80})
    for id, second in (("one", "approve"), ("two", "reject")):
        with pytest.raises(leaseq.StillWaiting):
            queue.ask("x", id=id, form=form, wait=0)
        queue.finish(not_none(queue.reserve("ann")), {"decision": "approve"})
        reason = {"reason": "no"} if second == "reject" else {}
        queue.finish(not_none(queue.reserve("bob")), {"decision": second, **reason})
        assert decision(queue.wait_for(id))["decision"] == second


def test_example_agent(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """examples/agent.py is killed while its question waits, and started again after the answer."""
    monkeypatch.setenv("LEASEQ_REDIS_URL", server.url)
    monkeypatch.chdir(tmp_path)
    example = str(ROOT / "examples/agent.py")
    killed = subprocess.Popen([sys.executable, example, "one", "80"], stdout=subprocess.PIPE)
    queue = leaseq.Queue(server.client, "refunds")
    eventually(lambda: queue.exists() and queue.stats().inbound == 1)
    killed.kill()
    killed.communicate()
    assert answer(queue, [{"refund": "no"}]) == [{"text": "Refund 80.00 EUR?"}]
    for order, amount in (("one", "80"), ("two", "50")):
        monkeypatch.setattr(sys, "argv", [example, order, amount])
        runpy.run_path(example)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("refund")]
    assert lines == ["refund: no", "refund: yes"]


def test_adapters_import_no_framework() -> None:
    code = (
        "import sys; import leaseq.agents.langgraph, leaseq.agents.openai_agents, leaseq.agents.pydantic_ai;"
        "print(sorted(set(sys.modules) & {'langgraph', 'agents', 'pydantic_ai', 'mcp', 'pydantic'}))"
    )
    completed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert completed.stdout == "[]\n"
