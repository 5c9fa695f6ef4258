"""Made-up people for `./dev bench load`: each keeps a connection, as a browser does, thinks, and answers."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from itertools import count
from urllib.parse import urlencode

PIECE = {"X-Leaseq-Piece": "yes"}  # as the work page's script asks
FORM = "application/x-www-form-urlencoded"
PAUSES = (1, 2, 5, 10, 15)  # seconds, as work/submit.js has them
DRAFTS = 0.2  # of the answers have a note, which is saved while it is typed
LATER = 0.02  # of the items are put off
RELOADS = 0.01  # of the items are loaded again, whole


@dataclass
class LoadReport:
    """What all saw: milliseconds by what was asked for, and what went wrong."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    answered: int = 0
    shed: int = 0
    counting: bool = False

    def note(self, what: str, seconds: float) -> None:
        if self.counting:
            self.times.setdefault(what, []).append(seconds * 1000)

    def note_shed(self) -> None:
        self.shed += self.counting


class WrongAnswer(Exception):
    """Something that a person would call an error."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


class Browser:
    """One kept connection and the cookies."""

    def __init__(self, host: str, port: int, tally: LoadReport) -> None:
        self._where = (host, port)
        self._tally = tally
        self._cookies: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self,
        what: str,
        path: str,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request; where the answer is to come again, that is done, as the page does by itself. The time
        is from the first byte sent to the last one read."""
        body = urlencode(form).encode() if form is not None else b""
        lines = [
            f"{'GET' if form is None else 'POST'} {path} HTTP/1.1",
            f"Host: {self._where[0]}:{self._where[1]}",
        ]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        lines.append(f"Cookie: {'; '.join(f'{name}={value}' for name, value in self._cookies.items())}")
        if form is not None:
            lines += [f"Content-Type: {FORM}", f"Content-Length: {len(body)}"]
        sent = "\r\n".join([*lines, "", ""]).encode() + body
        for tries in count():
            began = time.perf_counter()
            answer = await self._send(sent)
            if answer.status != 503 or "retry-after" not in answer.headers:
                break
            self._tally.note_shed()
            await asyncio.sleep(
                max(float(answer.headers["retry-after"]), PAUSES[min(tries, len(PAUSES) - 1)])
            )
        self._tally.note(what, time.perf_counter() - began)
        if answer.status >= 400:
            raise WrongAnswer(f"{what}: {answer.status} {path}")
        return answer

    async def _send(self, sent: bytes) -> Answer:
        """On the kept connection; on a new one where the server closed that meanwhile, as it may."""
        kept = self._streams is not None
        try:
            return await self._exchange(sent)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if not kept:
                raise
            return await self._exchange(sent)

    async def _exchange(self, sent: bytes) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._where, limit=1 << 20)
        reader, writer = self._streams
        writer.write(sent)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers: dict[str, str] = {}
        for line in head[1:-2]:
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                cookie, _, content = value.partition(";")[0].partition("=")
                self._cookies[cookie] = content
            headers[name.lower()] = value
        status = int(head[0].split(" ")[1])
        size = 0 if status == 204 else int(headers["content-length"])
        text = (await reader.readexactly(size)).decode()
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, headers, text)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Person:
    """Somebody who signs in once and then works on one queue."""

    def __init__(self, name: str, password: str, queue: str, browser: Browser, tally: LoadReport) -> None:
        self._name, self._password, self._queue = name, password, queue
        self._browser, self._tally = browser, tally
        self._random = random.Random(name)

    async def sign_in(self) -> None:
        page = (await self._browser.ask("sign in, page", "/login")).text
        fields = {"csrf_token": _value(page, "csrf_token"), "name": self._name, "password": self._password}
        answer = await self._browser.ask("sign in", "/login", fields)
        if answer.status != 303:
            raise WrongAnswer("could not sign in")

    async def work(self, arrival: float, think: float, until: float) -> None:
        """Take, think, answer, until the time is over. Begins within ``arrival`` seconds."""
        await asyncio.sleep(self._random.uniform(0, arrival))
        page = await self.open()
        while time.monotonic() < until:
            await asyncio.sleep(self._random.expovariate(1 / think))
            page = await self._next(page)

    async def open(self) -> str:
        """The work page with an item on it."""
        return await self._taken((await self._browser.ask("work page", f"/q/{self._queue}")).text)

    async def _taken(self, page: str) -> str:
        """An item, from the page that shows none."""
        fields = {"csrf_token": _value(page, "csrf_token")}
        return await self._followed(await self._browser.ask("take one", f"/q/{self._queue}/reserve", fields))

    async def _next(self, page: str) -> str:
        """What the person does with the item that they see; the next one's page."""
        action, fields = self._form(page)
        dice = self._random.random()
        if dice < LATER:
            abandon = action.replace("/finish", "/abandon")
            return await self._followed(
                await self._browser.ask("later", abandon, {**fields, "again": "yes"}, PIECE)
            )
        if dice < LATER + RELOADS:
            page = (await self._browser.ask("work page", f"/q/{self._queue}")).text
        if self._random.random() < DRAFTS:
            fields["answer.note"] = "the customer wrote twice"
            draft = re.search(r'\sdata-draft="(/q/[^"]+)"', page)
            if draft:
                await self._browser.ask("draft", unescape(draft[1]), fields)
        return await self._finished(action, fields)

    async def finish(self, page: str) -> str:
        """Answer the item that the page shows; the next one's page."""
        return await self._finished(*self._form(page))

    def _form(self, page: str) -> tuple[str, dict[str, str]]:
        """Where the answer goes, and its fields."""
        action = _attribute(page, r'<form id="answer"[^>]* action="([^"]+)"')
        return action, {
            "csrf_token": _value(page, "csrf_token"),
            "token": _attribute(page, r'<form id="answer"[^>]* data-token="(\d+)"'),
            "answer.about": self._random.choice(("delivery", "refund", "other")),
        }

    async def _finished(self, action: str, fields: Mapping[str, str]) -> str:
        answer = await self._browser.ask("finish and next", action, {**fields, "then": "next"}, PIECE)
        self._tally.answered += self._tally.counting
        return await self._followed(answer)

    async def _followed(self, answer: Answer) -> str:
        """Where the answer leads: in a header of ours, since fetch tells the page's script of no redirect."""
        where = answer.headers.get("location") or answer.headers.get("x-leaseq-go")
        if where:
            answer = await self._browser.ask("work page", where)
        if 'id="answer"' not in answer.text:
            raise WrongAnswer(f"no item: {answer.status} {answer.text[:200]!r}")
        return answer.text


def _value(page: str, name: str) -> str:
    return _attribute(page, rf'name="{name}" value="([^"]*)"')


def _attribute(page: str, pattern: str) -> str:
    match = re.search(pattern, page)
    if match is None:
        raise WrongAnswer(f"the page lacks {pattern}")
    return unescape(match[1])
