"""What every part of a queue has: its client, its moves, its policy, and what a reply means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from leaseq import form, validation
from leaseq.engine import arguments, codec
from leaseq.engine.client import Client, Reply, checked
from leaseq.engine.commands import Clock, Commands
from leaseq.engine.durability import check
from leaseq.engine.keys import QUEUES, SCHEMA, Keys
from leaseq.errors import Invalid, ItemNotFound, LeaseLost, LeaseqError, QueueExists
from leaseq.models import Held, Item, Json
from leaseq.policy import FIELDS, TEXTS, Policy, PolicyChanged, from_server, to_server


class Base:
    def __init__(self, client: Client, name: str, *, clock: Clock | None = None) -> None:
        self.name = validation.queue_name(name)
        self._client = checked(client)
        self._keys = Keys(self.name)
        self._commands = Commands(client, self._keys, clock)
        self._form: tuple[str, Json] = ("-", None)  # version and form, as last read

    def __repr__(self) -> str:
        return f"<leaseq.Queue {self.name}>"

    def exists(self) -> bool:
        """Whether it was configured, or anything was ever enqueued."""
        return self.schema is not None

    @property
    def schema(self) -> int | None:
        """Of which schema its keys are; None where there is no queue. Every other call refuses one that is
        newer than this version of leaseq knows, with ServerRefused and before anything changes."""
        reply = self._commands.schema()
        return int(reply.rest[0]) if reply.code == b"schema" else None

    @property
    def policy(self) -> Policy:
        """The policy in force; the defaults for a queue that isn't there yet."""
        return self.find_policy() or Policy()

    def find_policy(self) -> Policy | None:
        """The policy in force, or None where the queue isn't there: `exists` and `policy` in one call."""
        reply = self._commands.policy(TEXTS)
        if reply.code == b"no-queue":
            return None
        policy, version = from_server(reply.rest[0], reply.rest[1], reply.rest[2:])
        self._form = (version, policy.form)
        self._commands.learn(policy.durable)
        return policy

    def configure(
        self,
        *,
        by: str | None = None,
        expected: Policy | str | None = None,
        create_only: bool = False,
        **changes: Any,
    ) -> Policy:
        """Change some fields of the policy and return the whole. Makes the queue where there is none.

        ``expected``, a policy or its ``version``: only where that is in force still, else PolicyChanged; and
        QueueNotFound where there is no queue. ``create_only``: only where there is no queue yet, else
        QueueExists. Raises Invalid with the field's name. Nothing has changed then.
        """
        only = _expected(expected)
        if only and create_only:
            raise Invalid("create_only", "left out where a policy is expected, which a new queue has not")
        before = Policy() if create_only else self.policy
        policy = before.updated(changes)
        form.check_form(policy.form)
        if policy.durable != before.durable:
            check(policy.durable, self._client, self._keys.ledger)
        who = arguments.by(by)
        new = not only and self._commands.policy(()).code == b"no-queue"
        self._commands.learn(policy.durable)  # ahead, for configure itself to wait for what it sets
        try:
            made = new and self._make(policy, who)
            if create_only and not made:
                raise QueueExists(self.name)
            if (changes or only) and not made:
                self._enter()
                reply = self._commands.configure(who, only, _stored(policy, sorted(changes)))
                self._changed(reply, policy)
        except LeaseqError:
            self._commands.learn(None)
            raise
        return policy

    def _changed(self, reply: Reply, wanted: Policy) -> None:
        """Raise what a reply to `configure` means."""
        if reply.code == b"changed":
            now = self.policy
            if not reply.resent or now != wanted:  # sent twice, it finds what it wrote itself
                raise PolicyChanged(self.name, now)

    def _make(self, policy: Policy, by: str = "") -> bool:
        """Make the queue; False where somebody else was faster."""
        self._enter()
        fields = [*_stored(policy, sorted(FIELDS)), "schema", str(SCHEMA)]
        reply = self._commands.configure(by, "create", fields)
        return bool(reply.rest[0]) or (reply.resent and self.policy == policy)  # sent twice, it finds its own

    def _enter(self) -> None:
        """Into the list of names, where it is already but for one that was lost: `queues` says how."""
        with self._client.translating():
            self._client.redis.sadd(QUEUES, self.name)
        self._client.names.add(self.name)

    def _check(self, reply: Reply, held: Held) -> None:
        """Raise what a reply to the holder of a lease means; return where the move was made."""
        if reply.code == b"no-item":
            raise ItemNotFound(self.name, held[0])
        if reply.code == b"lost":
            kept, known = reply.rest
            item = codec.item(held[0], known)
            raise LeaseLost(arguments.lost(item, held, bool(kept)), item=item, answer_kept=bool(kept))

    def _item(self, reply: Reply, id: str) -> Item:
        if reply.code == b"no-item":
            raise ItemNotFound(self.name, id)
        return codec.item(id, reply.rest[0])

    def _rows(self, reply: Reply, field: str = "requires") -> None:
        if reply.code == b"rows":
            limit = (
                f"at most {reply.rest[0]:,} different sets of skills and persons with items waiting at once"
            )
            raise Invalid(field, limit)


def _expected(given: Policy | str | None) -> str:
    """The version that is meant; '' where any will do."""
    if given is None:
        return ""
    version = given.version if isinstance(given, Policy) else validation.text(given, "expected", 40)
    if not re.fullmatch("[0-9a-f]{40}", version):
        raise Invalid("expected", "a policy, or the version of one")
    return version


def _stored(policy: Policy, names: Iterable[str]) -> list[str]:
    return to_server(policy, names, form.version(policy.form))
