"""Programs that ask one question after the other during a fault, and a person who answers them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

import leaseq
from tests.support.waiting import eventually, retry_while_unavailable

PROGRAMS = 4


class Askers:
    def __init__(self, client: leaseq.Client, name: str, pool: ThreadPoolExecutor) -> None:
        self._queue = leaseq.Queue(client, name)
        self._queue.configure(durable="replica")
        self._told: dict[str, leaseq.Json] = {}
        self._asked, self._answered = threading.Event(), threading.Event()
        self._programs: list[Future[None]] = [pool.submit(self._ask, number) for number in range(PROGRAMS)]
        self._person: Future[None] = pool.submit(self._answer)
        eventually(lambda: len(self._told) > PROGRAMS)

    def _ask(self, program: int) -> None:
        for number in itertools.count():
            if self._asked.is_set():
                return
            id = f"{program}.{number}"
            answered = retry_while_unavailable(partial(self._queue.ask, id, id=id, timeout=600))
            self._told[id] = answered.result

    def _answer(self) -> None:
        """Each answer is another one: an item that somebody is granted twice may get two."""
        for number in itertools.count():
            if self._answered.is_set():
                return
            with suppress(leaseq.LeaseLost):
                lease = retry_while_unavailable(partial(self._queue.reserve, "ann", wait=0.5))
                if lease is not None:
                    retry_while_unavailable(partial(self._queue.finish, lease, number))

    def check(self) -> int:
        """Check, after the fault, that each question was settled once, as its program was told. Returns
        how many there were."""
        count = len(self._told)
        eventually(lambda: len(self._told) > count + PROGRAMS)
        self._asked.set()
        for program in self._programs:
            program.result(60)
        self._answered.set()
        self._person.result(60)
        for id, result in self._told.items():
            assert [answer.result for answer in self._queue.get(id).answers] == [result], id
        return len(self._told)


@contextmanager
def askers(url: str, name: str) -> Iterator[Askers]:
    client = leaseq.connect(url)
    with ThreadPoolExecutor(PROGRAMS + 1) as pool:
        try:
            yield Askers(client, name, pool)
        finally:
            client.close()
