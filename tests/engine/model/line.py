"""Who waits for an item, in which order, and whose turn it is."""

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
    until: datetime  # believed to be there
    woken: bool = False  # and on the way
    late: bool = False  # woken, and did not come


class Line:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self.waiters: dict[str, Waiter] = {}  # in the order in which they began
        self.woken_names: list[str] = []  # who was woken since the machine last looked
        self.last: datetime | None = None  # when somebody was woken

    def standing(self) -> list[Waiter]:
        return [waiter for waiter in self.waiters.values() if not waiter.woken]

    def stand(self, name: str) -> None:
        """At the end; who was here before has their place."""
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
        """The first who is there; with ``behind``, of those who began after that one."""
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

    def look_by_oneself(self, name: str) -> bool:
        """They stand where they stood. Two are woken for each who was woken and did not come in time; gives
        whether that is for others to come first."""
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
        """Who is believed to be there no longer, but for those."""
        for waiter in self.standing():
            if waiter.until < self.now() and waiter.name not in names:
                self.leave(waiter.name)

    def has_turn(self, name: str) -> bool:
        """Whether one who was not woken may look. They overtake nobody while wake-ups go round."""
        waiter = self.waiters.get(name)
        if waiter is None or waiter.woken or self.last is None:
            return True
        since_wake = self.now() - self.last
        return since_wake >= SETTLED or (since_wake >= ON_THE_WAY and self.standing()[0] is waiter)
