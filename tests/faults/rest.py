"""People who work over REST: the object that they use in place of a `leaseq.Queue`."""

from __future__ import annotations

import http.client
import itertools
import json
import random
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import leaseq
from tests.support.waiting import retry_while_unavailable

TIMEOUT = 30  # seconds: longer than any fault here, so that a retry never overtakes the first call


class RestQueue:
    """One person's persistent connection. A call without a reply raises ServerUnavailable; with
    ``idempotent``, it is repeated under the same Idempotency-Key until there is a reply."""

    def __init__(self, port: int, token: str, name: str, *, idempotent: bool, dice: random.Random) -> None:
        self.name = name
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        self._token, self._idempotent, self._dice = token, idempotent, dice
        self._numbers = itertools.count()
        self.retries = 0

    def enqueue(self, payload: Any, *, id: str) -> leaseq.Enqueued:
        body = self._post("items", {"payload": payload, "id": id})
        return leaseq.Enqueued(body["id"], body["added"])

    def reserve(self, person: str) -> leaseq.Lease | None:
        return _lease_of(self._post("reserve", {}))

    def finish(self, lease: leaseq.Lease, result: Any, *, then_reserve: bool = False) -> leaseq.Finished:
        body = {"token": lease.token, "result": result, "then_reserve": then_reserve}
        response_body = self._post(f"items/{lease.id}/finish", body)
        return leaseq.Finished(
            response_body["id"],
            response_body["late"],
            response_body["replayed"],
            _lease_of(response_body["next"]),
        )

    def abandon(self, lease: leaseq.Lease) -> None:
        self._post(f"items/{lease.id}/abandon", {"token": lease.token})

    def fail(self, lease: leaseq.Lease, error: str) -> leaseq.Failed:
        body = self._post(f"items/{lease.id}/fail", {"token": lease.token, "error": error})
        return leaseq.Failed(body["id"], body["retry_at"] and datetime.fromisoformat(body["retry_at"]))

    def renew(self, lease: leaseq.Lease) -> leaseq.Lease:
        renewed_lease = _lease_of(self._post(f"items/{lease.id}/renew", {"token": lease.token}))
        assert renewed_lease is not None
        return renewed_lease

    def _post(self, path: str, body: Any) -> Any:
        if not self._idempotent:
            return self._send(path, body, {})
        key_header = {"Idempotency-Key": f"{next(self._numbers)}-{self._dice.getrandbits(64):x}"}
        return retry_while_unavailable(lambda: self._send(path, body, key_header), pause=0.1)

    def _send(self, path: str, body: Any, extra_headers: dict[str, str]) -> Any:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            **extra_headers,
        }
        try:
            self._connection.request("POST", f"/api/v1/queues/{self.name}/{path}", json.dumps(body), headers)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self.retries += 1
            raise leaseq.ServerUnavailable("no_answer", what="server", address="", why=repr(error)) from error
        return _decode(response.status, json.loads(content) if content else None)

    def close(self) -> None:
        self._connection.close()


def _decode(status: int, body: Any) -> Any:
    """Return the body of a response, or raise its error as the library does."""
    if status < 300:
        return body
    if status == 503 or body["code"] == "in-progress":
        raise leaseq.ServerUnavailable(body["rule"], **body["values"])
    if body["code"] == "lease-lost":
        item: Any = SimpleNamespace(id=body["id"], state=body["state"])
        raise leaseq.LeaseLost(body["rule"], item=item, answer_kept=body["answer_kept"], **body["values"])
    if status == 404:
        raise leaseq.ItemNotFound("", "")
    if status in (400, 422):
        raise leaseq.Invalid(body.get("field", "form"), body["rule"], **body["values"])
    raise AssertionError(f"{status}: {body}")


def _lease_of(body: Any) -> leaseq.Lease | None:
    if body is None:
        return None
    times = {name: datetime.fromisoformat(body[name]) for name in ("reserved_at", "expires_at")}
    return leaseq.Lease(**{**body, **times})
