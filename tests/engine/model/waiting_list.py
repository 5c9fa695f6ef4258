"""The waiting list of the model: their order, their wake-ups, and whose turn it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

BELIEVED = timedelta(seconds=5)
ON_THE_WAY = timedelta(seconds=0.2)
SETTLED = timedelta(seconds=3)


@dataclass
class Waiter:
    name: str
    until: datetime  # counted as present until then
    woken: bool = False  # and on the way to reserve
    late: bool = False  # woken, but did not come


class WaitingList:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self.waiters: dict[str, Waiter] = {}  # in the order in which they began to wait
        self.woken_names: list[str] = []  # woken since the machine last checked
        self.last: datetime | None = None  # time of the last wake-up

    def standing(self) -> list[Waiter]:
        return [waiter for waiter in self.waiters.values() if not waiter.woken]

    def stand(self, name: str) -> None:
        """Join the list at its end; those who are already in it keep their place."""
        now = self.now()
        waiter = self.waiters.setdefault(name, Waiter(name, now))
        if waiter.late or waiter.until - now < BELIEVED / 2:
            waiter.until = now + BELIEVED
        waiter.woken = waiter.late = False
        while (first := self.standing()[0]).until < now:
            self.leave(first.name)

    def leave(self, name: str) -> None:
        self.waiters.pop(name, None)
        if not self.waiters:
            self.last = None

    def is_woken(self, name: str) -> bool:
        return name in self.waiters and self.waiters[name].woken

    def wake(self, behind: str | None = None) -> None:
        """Wake the first who is present; with ``behind``, only of those who began after that one."""
        names = list(self.waiters)
        after = names.index(behind) if behind else -1
        for waiter in self.standing():
            if names.index(waiter.name) <= after:
                continue
            if waiter.until >= self.now():
                waiter.woken, self.last = True, self.now()
                self.woken_names.append(waiter.name)
                return
            self.leave(waiter.name)

    def look_unwoken(self, name: str) -> bool:
        """Look without being woken, and keep the place in the list. For each who was woken but did not come
        in time, two are woken; return whether they come first."""
        if name not in self.waiters or self.waiters[name].woken:
            return False
        self.stand(name)
        if self.last is None or self.now() - self.last < ON_THE_WAY:
            return False
        first = self.standing()[0].name
        late_waiters = [one for one in self.waiters.values() if one.woken and not one.late]
        for one in [one for one in self.waiters.values() if one.woken]:
            one.late = True
            if one.until < self.now():
                self.leave(one.name)
        for _ in range(2 * len(late_waiters)):
            self.wake()
        return bool(late_waiters) and first != name

    def drop(self, names: list[str]) -> None:
        """Remove those who no longer count as present, except these names."""
        for waiter in self.standing():
            if waiter.until < self.now() and waiter.name not in names:
                self.leave(waiter.name)

    def has_turn(self, name: str) -> bool:
        """Whether a waiter who was not woken may look. They overtake nobody while others are being woken."""
        waiter = self.waiters.get(name)
        if waiter is None or waiter.woken or self.last is None:
            return True
        since_wake = self.now() - self.last
        return since_wake >= SETTLED or (since_wake >= ON_THE_WAY and self.standing()[0] is waiter)
