"""``leaseq mcp`` with the client of the official package, by standard input and output and by HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from click.testing import CliRunner

import leaseq
from leaseq.cli import main
from tests.meta.docs.test_examples import blocks
from tests.support.leases import not_none
from tests.support.ports import free_port
from tests.support.waiting import TIMEOUT, eventually

QUESTION = {"question": "Refund 80 EUR?", "context": "The parcel is **lost**.", "choices": ["yes", "no"]}


async def call(client: Any, tool: str, **arguments: Any) -> Any:
    """What a tool returns, or the text of its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return result.content[0].text
    content = result.structured_content
    return content.get("result", content)


def answer(queue: leaseq.Queue, result: leaseq.Json) -> leaseq.Lease:
    lease = not_none(queue.reserve("ann", wait=TIMEOUT))
    queue.finish(lease, result)
    return lease


def test_client_by_standard_input_and_output(queue: leaseq.Queue, app_url: str, make_token: Any) -> None:
    """It is started as docs/ask.md configures it, and again while a question waits."""
    from mcp import Client, StdioServerParameters, stdio_client

    queue.configure()
    (block,) = (block for block in blocks("docs/ask.md", "json") if "mcpServers" in block)
    config = json.loads(block)["mcpServers"]["people"]
    values = {"https://leaseq.example.org": app_url, "refunds": queue.name}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", config["command"], *(values.get(word, word) for word in config["args"])],
        env={**os.environ, **config["env"], "LEASEQ_TOKEN": make_token("stdio")},
    )

    async def ask() -> str:
        async with Client(stdio_client(parameters)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"ask_people", "get_answer", "cancel_question", "list_queues"}
            assert await call(client, "list_queues") == [queue.name]
            first = await call(client, "ask_people", **QUESTION, wait_seconds=0)
            assert first["state"] == "waiting"
            assert await call(client, "ask_people", **QUESTION, wait_seconds=0) == first
            other = await call(client, "ask_people", **QUESTION | {"context": ""}, wait_seconds=0)
            cancelled = await call(client, "cancel_question", question_id=other["question_id"])
            assert (cancelled["state"], cancelled["reason"]) == ("not_answered", "cancelled")
            errors: list[tuple[str, dict[str, Any], str]] = [
                ("ask_people", QUESTION | {"wait_seconds": 46}, "45"),
                ("get_answer", {"question_id": first["question_id"], "wait_seconds": 46}, "45"),
                ("ask_people", QUESTION | {"queue": "other"}, queue.name),
                ("ask_people", {"question": "Why?", "schema": {"type": "string"}}, "schema:"),
                ("get_answer", {"question_id": f"{queue.name}/missing"}, "missing"),
                ("get_answer", {"question_id": "missing"}, queue.name),
            ]
            for tool, arguments, part in errors:
                assert part in await call(client, tool, **arguments), (tool, arguments)
            question_id: str = first["question_id"]
            return question_id

    async def go_on(question_id: str) -> None:
        async with Client(stdio_client(parameters)) as client:
            found = await call(client, "get_answer", question_id=question_id)
            assert (found["state"], found["answer"]) == ("answered", {"answer": "yes"})
            schema = {"type": "object", "properties": {"why": {"type": "string"}}}
            asked = asyncio.create_task(call(client, "ask_people", question="Why?", schema=schema))
            lease = await asyncio.to_thread(answer, queue, {"why": "lost"})
            assert lease.form["ask"] == schema
            assert (await asked)["answer"] == {"why": "lost"}
            again = await call(client, "ask_people", **QUESTION, wait_seconds=0)
            assert again["state"] == "waiting", "another conversation asks anew"

    question_id = asyncio.run(ask())
    assert queue.stats().inbound == 1
    lease = answer(queue, {"answer": "yes"})
    assert lease.payload == {"question": QUESTION["question"], "context": QUESTION["context"]}
    asyncio.run(go_on(question_id))


def test_clients_by_http_have_tokens_of_their_own(queue: leaseq.Queue, app_url: str, make_token: Any) -> None:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    queue.configure()
    port, tokens = free_port(), [make_token("http"), make_token("other-http")]
    words = ["mcp", "--url", app_url, "--queue", queue.name, "--port", str(port)]
    process = subprocess.Popen([sys.executable, "-m", "leaseq", *words], stderr=subprocess.PIPE)

    @asynccontextmanager
    async def connect(token: str | None, mode: str = "auto") -> AsyncIterator[Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    async def ask() -> None:
        async with connect(tokens[0], "legacy") as client:
            asked = await call(client, "ask_people", **QUESTION, wait_seconds=0)
            assert await call(client, "ask_people", **QUESTION, wait_seconds=0) == asked
        answer(queue, {"answer": "no"})
        async with connect(tokens[0]) as client:
            found = await call(client, "get_answer", question_id=asked["question_id"])
            assert found["answer"] == {"answer": "no"}
        async with connect(tokens[1]) as client:
            told = await call(client, "get_answer", question_id=asked["question_id"])
            assert asked["question_id"].rpartition("/")[2] in told
        for token, part in ((None, "Authorization"), ("leaseq_wrong", "token")):
            async with connect(token) as client:
                assert part in await call(client, "get_answer", question_id=asked["question_id"])

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        eventually(lambda: listens() or process.poll() is not None)
        asyncio.run(ask())
    finally:
        process.terminate()
        process.communicate()


def test_wrong_settings_are_told_at_the_start() -> None:
    good = {"--url": "http://127.0.0.1:9", "--queue": "q", "--token": "leaseq_x"}
    for changes in ({"--token": ""}, {"--token": "two words"}, {"--url": "q"}, {"--queue": "Two Words"}):
        words = [word for option in (good | changes).items() for word in option]
        result = CliRunner(env={"LEASEQ_TOKEN": None}).invoke(main, ["mcp", *words])
        assert (result.exit_code, result.stdout) == (2, ""), changes
