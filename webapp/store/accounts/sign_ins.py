"""The log of sign-ins, successful, failed or refused, and the notices for a person's next one."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from leaseq import Client
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.log import Log
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.base import Store

MAX_NOTICES = 10
_SHOWN = 2  # characters shown of an unknown name: it may be a password in the wrong box


@dataclass(frozen=True, slots=True)
class AccountChange:
    """A change of a person's account since their last sign-in."""

    at: datetime
    what: str  # the log's code
    by: str
    detail: str

    @classmethod
    def load(cls, record: bytes) -> AccountChange:
        at, what, by, detail = json.loads(record)
        return cls(datetime.fromtimestamp(at, UTC), what, by, detail)


@dataclass(frozen=True, slots=True)
class SignInNotices:
    """The notices for a person's sign-in: what happened to the account since the last one."""

    failed: int  # failed sign-ins under their name
    changes: tuple[AccountChange, ...]  # the oldest first


class SignIns(Store):
    """Logs sign-ins. ``method``: a password, a code, or the identity provider."""

    def __init__(self, client: Client, people: People, log: Log) -> None:
        super().__init__(client)
        self._people = people
        self._log = log

    def log_success(self, name: str, method: str, address: str) -> SignInNotices:
        """Log a sign-in. Returns the person's notices, once."""
        self._log.write(name, "sign-in.done", name, f"{method}, {address}")
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=True)
            pipe.hget(keys.FAILED, name)
            pipe.hdel(keys.FAILED, name)
            pipe.lrange(keys.notices(name), 0, -1)
            pipe.delete(keys.notices(name))
            failed_count, _, records, _ = pipe.execute()
        return SignInNotices(int(failed_count or 0), tuple(map(AccountChange.load, reversed(records))))

    def log_failure(self, name: str, method: str, address: str) -> None:
        """Log a wrong password or code, or a refusal by the identity provider."""
        record = self._people.find(name)
        self._log.write(
            "", "sign-in.failed", record.name if record else _shortened(name), f"{method}, {address}"
        )
        if record:
            with self._client.translating():
                self._redis.hincrby(keys.FAILED, record.name, 1)

    def log_limited(self, name: str, method: str, address: str) -> None:
        """Log a try that was refused after too many failures."""
        record = self._people.find(name)
        self._log.write(
            "", "sign-in.limited", record.name if record else _shortened(name), f"{method}, {address}"
        )

    def notify(self, name: str, what: str, *, by: str, detail: str = "") -> None:
        """Add a notice to the person's next sign-in. The latest ten are kept."""
        change = json.dumps([time.time(), what, by, detail], ensure_ascii=False)
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=True)
            pipe.lpush(keys.notices(name), change)
            pipe.ltrim(keys.notices(name), 0, MAX_NOTICES - 1)
            pipe.execute()


def _shortened(name: str) -> str:
    """The beginning of an unknown name, so that a password typed as a name is not stored."""
    beginning = "".join(one if one.isprintable() else "?" for one in name[:_SHOWN])
    return f"{beginning}… (no account)"
