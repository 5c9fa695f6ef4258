"""A server of the Model Context Protocol, with which a model asks people.

It uses the REST API with a token of scope ``ask``, which can do nothing but ask. No call of a tool waits
longer than 45 seconds, since many clients give up after 60: the question stays open, and its id leads back to
it.
"""

from __future__ import annotations

import inspect
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from leaseq.errors import Invalid, LeaseqError, NotAnswered, ServerUnavailable, StillWaiting
from leaseq.models import Answered
from leaseq.remote import Asker
from leaseq.validation import queue_name

_WAITING = "Nobody has answered yet. Call get_answer with this question_id, now or later. Don't ask again."
_NOT_ANSWERED = "Nobody will answer. Don't act as if somebody had agreed."
_MOST_CALLS = 1_000  # that wait at the same time, each in a thread
_Request = Context[Any, Any]
_Wait = Annotated[float, Field(ge=0, le=45, description="Seconds to wait for the answer")]
_Id = Annotated[str, Field(description="The question_id that ask_people returned")]
_Question = Annotated[str, Field(description="In full sentences: people don't see your conversation")]
_Background = Annotated[str, Field(description="What people need to know to answer, in Markdown")]
_Choices = Annotated[list[str] | None, Field(description="The answers to choose from")]
_Schema = Annotated[dict[str, Any] | None, Field(description="JSON Schema of an object, instead of choices")]
_Queue = Annotated[str | None, Field(description="One of list_queues. Default: the first")]


@dataclass
class Tools:
    """The tools; a model reads their docstrings."""

    url: str  # of the leaseq app
    token: str | None  # None: each HTTP request brings its own
    queues: Sequence[str]  # in which models may ask; the default first
    timeout: float  # seconds that people have
    process: str = field(default_factory=lambda: secrets.token_hex(8))
    limiter: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_MOST_CALLS))

    def __post_init__(self) -> None:
        """Raise Invalid for what no call could use."""
        Asker(self.url, self.token or "none")
        for queue in self.queues:
            queue_name(queue)

    async def ask_people(
        self,
        request: _Request,
        question: _Question,
        context: _Background = "",
        choices: _Choices = None,
        schema: _Schema = None,
        queue: _Queue = None,
        wait_seconds: _Wait = 30,
    ) -> dict[str, Any]:
        """Ask people. They may need minutes or hours: if the result is a question_id instead of the answer,
        go on with something else, or end your turn, and call get_answer later. Don't ask twice. In one
        conversation the same question has the same answer; to ask it anew, say in context what is new."""
        choice = {"enum": choices} if choices else {"type": "string", "minLength": 1}
        fields = {"answer": choice | {"title": "Answer"}, "comment": {"type": "string", "title": "Comment"}}
        form = {
            "show": ["question", {"field": "context", "kind": "markdown"}],
            "ask": schema or {"type": "object", "properties": fields, "required": ["answer"]},
        }
        payload = {"question": question, "context": context}
        session = self.process if request.headers is None else request.headers.get("mcp-session-id")
        content = [session or secrets.token_hex(8), queue, payload, form]
        id = sha256(json.dumps(content).encode()).hexdigest()[:24]
        options: Any = {"id": id, "form": form, "timeout": self.timeout}
        wait = min(wait_seconds, self.timeout)
        return await self._call(
            request,
            f"{queue or self.queues[0]}/{id}",
            lambda asker, queue, _: asker.ask(queue, payload, wait=wait, **options),
        )

    async def get_answer(
        self, request: _Request, question_id: _Id, wait_seconds: _Wait = 30
    ) -> dict[str, Any]:
        """Get the answer of a question, or wait for it a while."""
        return await self._call(
            request, question_id, lambda asker, queue, id: asker.wait_for(queue, id, wait_seconds)
        )

    async def cancel_question(self, request: _Request, question_id: _Id) -> dict[str, Any]:
        """Cancel a question whose answer nobody needs any more. Returns the answer if there is one."""

        def cancel(asker: Asker, queue: str, id: str) -> Answered:
            asker.cancel(queue, id)
            return asker.wait_for(queue, id, 0)

        return await self._call(request, question_id, cancel)

    def list_queues(self) -> list[str]:
        """List the queues in which you may ask; each reaches other people. The first is the default."""
        return list(self.queues)

    async def _call(
        self, request: _Request, question_id: str, call: Callable[[Asker, str, str], Answered]
    ) -> dict[str, Any]:
        """The outcome of a call in a thread, with what the model should do next."""
        queue, _, id = question_id.partition("/")
        if queue not in self.queues:
            raise ToolError(f"expected one of the queues {', '.join(self.queues)}, got {queue!r}")
        token = self.token or (request.headers or {}).get("authorization", "").removeprefix("Bearer ")
        if not token:
            raise ToolError("expected a token in the header Authorization: Bearer, got none")
        try:
            outcome = await to_thread.run_sync(
                call, Asker(self.url, token), queue, id, abandon_on_cancel=True, limiter=self.limiter
            )
        except StillWaiting:
            return {"state": "waiting", "question_id": question_id, "next": _WAITING}
        except NotAnswered as error:
            return {"state": "not_answered", "reason": error.reason, "next": _NOT_ANSWERED}
        except ServerUnavailable as error:
            raise ToolError(f"{error}. Make the same call again in a minute: it asks only once") from error
        except Invalid as error:  # the model knows the form as schema
            raise ToolError(str(error.at("schema") if error.field == "form" else error)) from error
        except LeaseqError as error:
            raise ToolError(str(error)) from error
        answers = [answer.result for answer in outcome.answers]
        return {"state": "answered", "answer": outcome.result, "answers": answers, "late": outcome.late}


def make_server(tools: Tools) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("leaseq", log_level="WARNING")
    for tool in (tools.ask_people, tools.get_answer, tools.cancel_question, tools.list_queues):
        server.add_tool(tool, description=inspect.getdoc(tool))
    return server
