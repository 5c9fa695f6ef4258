"""The base of the accounts' stores."""

from __future__ import annotations

from leaseq import Client
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.attempts import Attempts
from leaseq.webapp.store.accounts.callers import Callers
from leaseq.webapp.store.accounts.erasures import Erasures
from leaseq.webapp.store.accounts.factors import Factors
from leaseq.webapp.store.accounts.invitations import Invitations
from leaseq.webapp.store.accounts.links import Links
from leaseq.webapp.store.accounts.log import Log
from leaseq.webapp.store.accounts.passwords import Passwords
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.accounts.sessions import SESSION_SECONDS, Sessions
from leaseq.webapp.store.accounts.sign_ins import SignIns
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.accounts.traces import Traces
from leaseq.webapp.store.base import Store

PROBE_SECONDS = 60


class Base(Store):
    def __init__(
        self,
        client: Client,
        *,
        passwords: Passwords | None = None,
        session_seconds: int = SESSION_SECONDS,
    ) -> None:
        super().__init__(client)
        self._people = People(client)
        self._tokens = Tokens(client)
        self._callers = Callers(client, self._people, self._tokens)
        self._passwords = passwords or Passwords()
        self._invitations = Invitations(client)
        self._links = Links(client)
        self.attempts = Attempts(client)
        self.erasures = Erasures(client)
        self.factors = Factors(client)
        self.log = Log(client)
        self.sign_ins = SignIns(client, self._people, self.log)
        self.sessions = Sessions(client, session_seconds)
        self.traces = Traces(client)

    def check_writes(self) -> None:
        """Raise ServerUnavailable or ServerRefused unless the server accepts a write. A server that is full,
        read-only or without its replicas still answers reads."""
        with self._client.translating():
            self._redis.set(keys.PROBE, 1, ex=PROBE_SECONDS)

    def _notify(self, name: str, what: str, *, by: str, detail: str = "") -> None:
        """Log a change of a person's sign-in, and add it to the notices of their next sign-in."""
        self.log.write(by, what, name, detail)
        self.sign_ins.notify(name, what, by=by, detail=detail)
