"""Asking over REST: `Asker` puts questions to a leaseq app, from the standard library alone.

    asker = Asker("https://leaseq.example.org", token)
    answered = asker.ask("refunds", {"text": "Refund 80 EUR?"}, id="refund-40-1182", form=form)

The token has the scope ``ask``. Calls are safe to send again: a lost response costs nothing.
"""

from __future__ import annotations

import json
import random
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple, Unpack
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from leaseq.errors import (
    Invalid,
    ItemNotFound,
    LeaseqError,
    NotAnswered,
    QueueNotFound,
    ServerRefused,
    ServerUnavailable,
    StillWaiting,
    TooLarge,
)
from leaseq.models import Answer, Answered, Json, QuestionOptions
from leaseq.sentences import RULES
from leaseq.validation import dump_json, item_id, number, queue_name, skills

_LONGEST_WAIT = 25  # seconds of one request; the app allows 30, and proxies often close one after 60
_WAIT_WITH_STOP = 2  # the same for a call with `stop`, which is looked at between two requests
_SLACK = 10  # seconds that a response may take, in addition to its wait
_PAUSES = (0.5, 5.0)  # seconds between two tries: the first pause, and the longest
_MAX_SECONDS = 315_360_000  # ten years
_IN_A_REQUEST = re.compile("[!-~]{1,1000}")  # what a URL and a token may consist of


class _Reply(NamedTuple):
    status: int
    body: Any  # the JSON of the response; None if it has none
    retry_after: float  # seconds


class _NoRedirects(HTTPRedirectHandler):
    """The token must not be sent to where a redirect leads."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


class Asker:
    """Asks people by the REST API of a leaseq app, with a token. Threads may share it.

    ``url``: that of the app, such as ``https://leaseq.example.org``, also with ``/api/v1`` at its end.
    While the app can't be reached, or asks to come back later, calls try again until their time is over;
    then they raise ServerUnavailable. They raise ServerRefused if the token doesn't allow the call.
    """

    def __init__(self, url: str, token: str) -> None:
        if not _is_address(url):
            raise Invalid("url", "format", what="url", schemes=("https://", "http://"))
        if not _IN_A_REQUEST.fullmatch(token):
            raise Invalid("token", "ascii", minimum=1, maximum=1_000)
        self._base = f"{url.rstrip('/').removesuffix('/api/v1')}/api/v1/queues/"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._opener: OpenerDirector = build_opener(_NoRedirects)

    def ask(
        self,
        queue: str,
        payload: Json,
        *,
        id: str | None = None,
        timeout: float = 3_600,
        wait: float | None = None,
        default: Json = ...,
        stop: threading.Event | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Answered:
        """Ask a person, and wait for the answer: as `Queue.ask`."""
        seconds = number(timeout, "timeout", 0.001, _MAX_SECONDS)
        wait_seconds = seconds if wait is None else number(wait, "wait", 0, seconds)
        dump_json(None if default is ... else default, "default")
        question = {"payload": payload, **options}
        if "requires" in options:
            question["requires"] = skills(options["requires"], "requires")
        for name, value in question.items():
            dump_json(value, name)
        question["id"] = id = secrets.token_hex(12) if id is None else item_id(id)
        now = time.monotonic()
        until, needed_until = now + wait_seconds, now + seconds

        def body() -> dict[str, Any]:
            timeout = max(needed_until - time.monotonic(), 0.001)
            return {**question, "timeout": timeout, "wait": _next_wait(until, stop)}

        try:
            answered = self._result(queue, id, self._send("POST", _path(queue), until, stop, body))
            answered = answered or self._wait(queue, id, until, stop)
            if answered is not None:
                return answered
            if wait_seconds < seconds or (stop is not None and stop.is_set()):
                raise StillWaiting(id)
            raise NotAnswered(id, "expired")
        except NotAnswered:
            if default is ...:
                raise
            return Answered(id, default, (), "default")

    def wait_for(
        self, queue: str, id: str, timeout: float = 30, *, stop: threading.Event | None = None
    ) -> Answered:
        """Wait for the answer of a question that was asked with this account: as `Queue.wait_for`."""
        seconds = number(timeout, "timeout", 0, _MAX_SECONDS)
        answered = self._wait(queue, item_id(id), time.monotonic() + seconds, stop)
        if answered is None:
            raise StillWaiting(id)
        return answered

    def cancel(self, queue: str, id: str) -> None:
        """Cancel a question that was asked with this account; one that is over is left as it is."""
        reply = self._send("DELETE", _path(queue, item_id(id)), time.monotonic() + _SLACK, None)
        self._result(queue, id, reply)

    def _wait(self, queue: str, id: str, until: float, stop: threading.Event | None) -> Answered | None:
        while True:
            path = f"{_path(queue, id)}?wait={_next_wait(until, stop):.3f}"
            answered = self._result(queue, id, self._send("GET", path, until, stop))
            if answered is not None or time.monotonic() >= until or (stop is not None and stop.is_set()):
                return answered

    def _send(
        self,
        method: str,
        path: str,
        until: float,
        stop: threading.Event | None,
        body: Callable[[], Mapping[str, Any] | None] = lambda: None,
    ) -> _Reply:
        """Send a request, again while the app can't be reached or asks to come back later. ``body`` makes
        that of each."""
        pause, longest_pause = _PAUSES
        while True:
            try:
                reply = self._exchange(method, path, body())
                if reply.status not in (429, 502, 503, 504):
                    return reply
                error = _error(reply)
                pause = max(pause, reply.retry_after)
            except (OSError, HTTPException, ValueError) as failure:
                error = ServerUnavailable("no_answer", what="server", address=self._base, why=str(failure))
            if time.monotonic() >= until or (stop is not None and stop.is_set()):
                raise error
            seconds = min(pause * random.uniform(0.5, 1), max(until - time.monotonic(), 0))  # noqa: S311
            (stop or threading.Event()).wait(seconds)
            pause = min(2 * pause, longest_pause)

    def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None) -> _Reply:
        data, headers = None, dict(self._headers)
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = Request(self._base + path, data, headers, method=method)  # noqa: S310 - http or https
        response: HTTPResponse | HTTPError
        try:
            response = self._opener.open(request, timeout=_LONGEST_WAIT + _SLACK)
        except HTTPError as error:
            response = error
        with response:
            text = response.read()
            is_json = "json" in response.headers.get("Content-Type", "")
            retry_after = response.headers.get("Retry-After", "")
            return _Reply(
                response.status or 0,
                json.loads(text) if is_json and text else None,
                float(retry_after) if retry_after.isdecimal() else 0,
            )

    def _result(self, queue: str, id: str, reply: _Reply) -> Answered | None:
        """The answer; None if there is none yet."""
        body = reply.body if isinstance(reply.body, dict) else {}  # it may not be a leaseq app
        if reply.status == 200 and "answers" in body:
            return _answered(body)
        if reply.status in (202, 204):
            return None
        if reply.status == 410 and "reason" in body:
            raise NotAnswered(id, body["reason"])
        if reply.status == 409 and body.get("code") == "conflict":
            raise Invalid("id", "question", id=id)
        if reply.status == 404 and "values" in body:
            is_item = body["values"].get("what") == "item"
            raise ItemNotFound(queue, id) if is_item else QueueNotFound(queue)
        raise _error(reply)


def _is_address(url: object) -> bool:
    if not isinstance(url, str) or not _IN_A_REQUEST.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no port, no IPv6 address
        return False


def _next_wait(until: float, stop: threading.Event | None) -> float:
    """How long the next request may wait, in seconds."""
    return min(max(until - time.monotonic(), 0), _LONGEST_WAIT if stop is None else _WAIT_WITH_STOP)


def _path(queue: str, id: str | None = None) -> str:
    return f"{queue_name(queue)}/questions" + ("" if id is None else f"/{quote(id)}")


def _error(reply: _Reply) -> LeaseqError:
    """The error of a refusal, with the app's own words if this version doesn't know its rule."""
    problem = reply.body if isinstance(reply.body, dict) else {}
    rule, values = problem.get("rule", ""), problem.get("values", {})
    code, field = problem.get("code", ""), problem.get("field", "request")
    if rule not in RULES:
        rule, values = "http_error", {"why": f"{reply.status} {problem.get('detail', '')}".strip()}
    if code in ("invalid", "too-large"):
        return (TooLarge if code == "too-large" else Invalid)(field, rule, **values)
    if reply.status in (429, 502, 503, 504):
        return ServerUnavailable(rule, **values)
    return ServerRefused(rule, **values)


def _answered(body: Mapping[str, Any]) -> Answered:
    answers = tuple(_answer(answer) for answer in body["answers"])
    return Answered(body["id"], body["result"], answers, body["how"], body["late"])


def _answer(body: Mapping[str, Any]) -> Answer:
    names = ("id", "payload", "result", "person", "token", "attempt", "late")
    begun_at = body["reserved_at"]
    return Answer(
        **{name: body[name] for name in names},
        finished_at=datetime.fromisoformat(body["finished_at"]),
        reserved_at=None if begun_at is None else datetime.fromisoformat(begun_at),
        changed=tuple(body["changed"]),
    )
