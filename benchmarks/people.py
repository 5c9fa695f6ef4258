"""The simulated people of `./dev bench load`: each keeps a connection like a browser, thinks, and answers."""

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

FRAGMENT_HEADERS = {"X-Leaseq-Fragment": "yes"}  # sent by the work page's script
FORM_TYPE = "application/x-www-form-urlencoded"
PAUSES = (1, 2, 5, 10, 15)  # seconds, as in work/submit.js
DRAFTS = 0.2  # share of the answers with a note, which is saved while it is typed
LATER = 0.02  # share of the items that are put off
RELOADS = 0.01  # share of the items whose whole page is loaded again


@dataclass
class LoadReport:
    """The results of all people: milliseconds by request, and errors."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    answers: int = 0
    refusals: int = 0
    is_counting: bool = False

    def note(self, label: str, seconds: float) -> None:
        if self.is_counting:
            self.times.setdefault(label, []).append(seconds * 1000)

    def note_refusal(self) -> None:
        self.refusals += self.is_counting


class WrongResponse(Exception):
    """A response that a person would call an error."""


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    text: str


class Browser:
    """One kept connection, and cookies."""

    def __init__(self, host: str, port: int, report: LoadReport) -> None:
        self._address = (host, port)
        self._report = report
        self._cookies: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(
        self,
        label: str,
        path: str,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send a request; if the answer says to try again later, do so, as the page does by itself. The time
        is measured from the first byte sent to the last one read."""
        body = urlencode(form).encode() if form is not None else b""
        lines = [
            f"{'GET' if form is None else 'POST'} {path} HTTP/1.1",
            f"Host: {self._address[0]}:{self._address[1]}",
        ]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        lines.append(f"Cookie: {'; '.join(f'{name}={value}' for name, value in self._cookies.items())}")
        if form is not None:
            lines += [f"Content-Type: {FORM_TYPE}", f"Content-Length: {len(body)}"]
        data = "\r\n".join([*lines, "", ""]).encode() + body
        for tries in count():
            started_at = time.perf_counter()
            response = await self._send(data)
            if response.status != 503 or "retry-after" not in response.headers:
                break
            self._report.note_refusal()
            await asyncio.sleep(
                max(float(response.headers["retry-after"]), PAUSES[min(tries, len(PAUSES) - 1)])
            )
        self._report.note(label, time.perf_counter() - started_at)
        if response.status >= 400:
            raise WrongResponse(f"{label}: {response.status} {path}")
        return response

    async def _send(self, data: bytes) -> Response:
        """Send it on the kept connection, or on a new one if the server has closed that, as it may."""
        is_reused = self._streams is not None
        try:
            return await self._exchange(data)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if not is_reused:
                raise
            return await self._exchange(data)

    async def _exchange(self, data: bytes) -> Response:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address, limit=1 << 20)
        reader, writer = self._streams
        writer.write(data)
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
        return Response(status, headers, text)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Person:
    """Somebody who signs in once and then works on one queue."""

    def __init__(self, name: str, password: str, queue: str, browser: Browser, report: LoadReport) -> None:
        self._name, self._password, self._queue = name, password, queue
        self._browser, self._report = browser, report
        self._random = random.Random(name)

    async def sign_in(self) -> None:
        page = (await self._browser.request("sign in, page", "/login")).text
        fields = {
            "csrf_token": _field_value(page, "csrf_token"),
            "name": self._name,
            "password": self._password,
        }
        response = await self._browser.request("sign in", "/login", fields)
        if response.status != 303:
            raise WrongResponse("could not sign in")

    async def work(self, arrival: float, think: float, deadline: float) -> None:
        """Take an item, think and answer, until the time is over. Begins within ``arrival`` seconds."""
        await asyncio.sleep(self._random.uniform(0, arrival))
        page = await self.open()
        while time.monotonic() < deadline:
            await asyncio.sleep(self._random.expovariate(1 / think))
            page = await self._handle_item(page)

    async def open(self) -> str:
        """Open the work page with an item on it."""
        return await self._take_item((await self._browser.request("work page", f"/q/{self._queue}")).text)

    async def _take_item(self, page: str) -> str:
        """Take an item from the page that shows none."""
        fields = {"csrf_token": _field_value(page, "csrf_token")}
        return await self._follow(
            await self._browser.request("take one", f"/q/{self._queue}/reserve", fields)
        )

    async def _handle_item(self, page: str) -> str:
        """Do something with the item that the person sees; return the next item's page."""
        action, fields = self._form(page)
        dice = self._random.random()
        if dice < LATER:
            abandon_action = action.replace("/finish", "/abandon")
            return await self._follow(
                await self._browser.request(
                    "later", abandon_action, {**fields, "again": "yes"}, FRAGMENT_HEADERS
                )
            )
        if dice < LATER + RELOADS:
            page = (await self._browser.request("work page", f"/q/{self._queue}")).text
        if self._random.random() < DRAFTS:
            fields["answer.note"] = "the customer wrote twice"
            draft = re.search(r'\sdata-draft="(/q/[^"]+)"', page)
            if draft:
                await self._browser.request("draft", unescape(draft[1]), fields)
        return await self._send_answer(action, fields)

    async def finish(self, page: str) -> str:
        """Answer the item that the page shows; return the next item's page."""
        return await self._send_answer(*self._form(page))

    def _form(self, page: str) -> tuple[str, dict[str, str]]:
        """The URL to which the answer is sent, and its fields."""
        action = _attribute(page, r'<form id="answer"[^>]* action="([^"]+)"')
        return action, {
            "csrf_token": _field_value(page, "csrf_token"),
            "token": _attribute(page, r'<form id="answer"[^>]* data-token="(\d+)"'),
            "answer.about": self._random.choice(("delivery", "refund", "other")),
        }

    async def _send_answer(self, action: str, fields: Mapping[str, str]) -> str:
        response = await self._browser.request(
            "finish and next", action, {**fields, "then": "next"}, FRAGMENT_HEADERS
        )
        self._report.answers += self._report.is_counting
        return await self._follow(response)

    async def _follow(self, response: Response) -> str:
        """Follow a redirect. It is in our own header, since fetch hides redirects from the page's script."""
        target = response.headers.get("location") or response.headers.get("x-leaseq-redirect")
        if target:
            response = await self._browser.request("work page", target)
        if 'id="answer"' not in response.text:
            raise WrongResponse(f"no item: {response.status} {response.text[:200]!r}")
        return response.text


def _field_value(page: str, name: str) -> str:
    return _attribute(page, rf'name="{name}" value="([^"]*)"')


def _attribute(page: str, pattern: str) -> str:
    match = re.search(pattern, page)
    if match is None:
        raise WrongResponse(f"the page lacks {pattern}")
    return unescape(match[1])
