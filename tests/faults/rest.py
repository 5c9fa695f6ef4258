"""People who work over REST: what they call in place of a `leaseq.Queue`."""

from __future__ import annotations

import http.client
import itertools
import json
import random
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import leaseq
from tests.support.patience import patiently

TIMEOUT = 30  # seconds: longer than any fault here, so that what is sent again never overtakes the first


class RestQueue:
    """One person's connection, kept alive. What is not answered raises ServerUnavailable; ``keyed``, it is
    sent again under the same Idempotency-Key until it is, as one call."""

    def __init__(self, port: int, token: str, name: str, *, keyed: bool, dice: random.Random) -> None:
        self.name = name
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        self._token, self._keyed, self._dice = token, keyed, dice
        self._numbers = itertools.count()
        self.sent_again = 0

    def enqueue(self, payload: Any, *, id: str) -> leaseq.Enqueued:
        made = self._post("items", {"payload": payload, "id": id})
        return leaseq.Enqueued(made["id"], made["added"])

    def reserve(self, person: str) -> leaseq.Lease | None:
        return _lease(self._post("reserve", {}))

    def finish(self, lease: leaseq.Lease, result: Any, *, then_reserve: bool = False) -> leaseq.Finished:
        body = {"token": lease.token, "result": result, "then_reserve": then_reserve}
        done = self._post(f"items/{lease.id}/finish", body)
        return leaseq.Finished(done["id"], done["late"], done["replayed"], _lease(done["next"]))

    def abandon(self, lease: leaseq.Lease) -> None:
        self._post(f"items/{lease.id}/abandon", {"token": lease.token})

    def fail(self, lease: leaseq.Lease, error: str) -> leaseq.Failed:
        failed = self._post(f"items/{lease.id}/fail", {"token": lease.token, "error": error})
        return leaseq.Failed(failed["id"], failed["retry_at"] and datetime.fromisoformat(failed["retry_at"]))

    def renew(self, lease: leaseq.Lease) -> leaseq.Lease:
        renewed = _lease(self._post(f"items/{lease.id}/renew", {"token": lease.token}))
        assert renewed is not None
        return renewed

    def _post(self, path: str, body: Any) -> Any:
        if not self._keyed:
            return self._once(path, body, {})
        key = {"Idempotency-Key": f"{next(self._numbers)}-{self._dice.getrandbits(64):x}"}
        return patiently(lambda: self._once(path, body, key), pause=0.1)

    def _once(self, path: str, body: Any, more: dict[str, str]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **more}
        try:
            self._connection.request("POST", f"/api/v1/queues/{self.name}/{path}", json.dumps(body), headers)
            answer = self._connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self.sent_again += 1
            raise leaseq.ServerUnavailable(f"no answer: {error!r}") from error
        return _meaning(answer.status, json.loads(said) if said else None)

    def close(self) -> None:
        self._connection.close()


def _meaning(status: int, said: Any) -> Any:
    """The body of an answer, or the error that it says, as the library has it."""
    if status < 300:
        return said
    if status == 503 or said["code"] == "in-progress":
        raise leaseq.ServerUnavailable(said["detail"])
    if said["code"] == "lease-lost":
        item: Any = SimpleNamespace(id=said["id"], state=said["state"])
        raise leaseq.LeaseLost(said["detail"], item=item, answer_kept=said["answer_kept"])
    if status == 404:
        raise leaseq.ItemNotFound("", "")
    if status in (400, 422):
        raise leaseq.Invalid(said.get("field", "form"), said["detail"])
    raise AssertionError(f"{status}: {said}")


def _lease(body: Any) -> leaseq.Lease | None:
    if body is None:
        return None
    times = {name: datetime.fromisoformat(body[name]) for name in ("reserved_at", "expires_at")}
    return leaseq.Lease(**{**body, **times})
