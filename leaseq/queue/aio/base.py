"""The base of a queue: its client, its commands and its policy.

Made of leaseq/queue/base.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Unpack

from leaseq import form, validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.aio.client import Client, check_client, connection_of
from leaseq.engine.aio.commands import Commands
from leaseq.engine.aio.durability import check
from leaseq.engine.aio.witness import Witness
from leaseq.engine.commands import Clock
from leaseq.engine.keys import QUEUES, RESTORED_QUEUES, SCHEMA, WEBHOOK_STATE, Keys, of_queue
from leaseq.engine.policy_codec import from_server
from leaseq.engine.replies import Reply
from leaseq.errors import Invalid, LeaseqError, PolicyChanged, QueueExists, QueueNotFound
from leaseq.models import Item, Json
from leaseq.policy import FIELDS, TEXTS, Policy, PolicyChanges
from leaseq.queue.aio.elsewhere import forget_elsewhere
from leaseq.queue.base import _SCAN_COUNT, _UNLINK_COUNT, _stored_fields, expected_version


class Base:
    def __init__(self, client: Client, name: str, *, clock: Clock | None = None) -> None:
        self.name = validation.queue_name(name)
        self._client = check_client(client)
        self._connection = connection_of(client)
        self._keys = Keys(self.name)
        self._commands = Commands(self._connection, self._keys, clock)
        self._form: tuple[str, Json] = ("-", None)

    def __repr__(self) -> str:
        return f"<leaseq.Queue {self.name}>"

    async def exists(self) -> bool:
        """Whether the queue was configured, or anything was ever enqueued."""
        return await self.schema is not None

    @property
    async def schema(self) -> int | None:
        """The schema number of its keys; None where there is no queue. Every other call raises
        QueueUnreadable, before anything changes, where this version of leaseq doesn't know the schema."""
        try:
            return int((await self._commands.schema()).rest[0])
        except QueueNotFound:
            return None

    @property
    async def policy(self) -> Policy:
        """The policy in force; the defaults where there is no queue."""
        return await self.find_policy() or Policy()

    async def find_policy(self) -> Policy | None:
        """The policy in force, or None where there is no queue: `exists` and `policy` in one call."""
        try:
            lease_seconds, form_version, rules, *texts = (await self._commands.policy(TEXTS)).rest
        except QueueNotFound:
            return None
        policy = from_server(lease_seconds, rules, texts)
        self._form = (form_version.decode(), policy.form)
        self._commands.learn(policy.durable)
        return policy

    async def configure(
        self,
        *,
        by: str | None = None,
        expected: Policy | str | None = None,
        create_only: bool = False,
        **changes: Unpack[PolicyChanges],
    ) -> Policy:
        """Change some fields of the policy and return the whole. Creates the queue where there is none.

        ``expected``, a policy or its ``version``: change it only if this one is in force; raises
        PolicyChanged where another is, and QueueNotFound where there is no queue. ``create_only``: raises
        QueueExists where there is a queue. Raises Invalid with the field's name. After an error nothing has
        changed.
        """
        version = expected_version(expected)
        if version and create_only:
            raise Invalid("create_only", "not together with expected=: a new queue has no policy to compare")
        old_policy = Policy() if create_only else await self.policy
        policy = old_policy.updated(changes, besides=("by", "expected", "create_only"))
        form.check_form(policy.form)
        if policy.durable != old_policy.durable:
            await check(policy.durable, self._connection, self._keys.ledger)
        manager = arguments.by(by)
        is_new = not version and await self._is_new()
        self._commands.learn(policy.durable)
        try:
            is_created = is_new and await self._create(policy, manager)
            if create_only and (not is_created):
                raise QueueExists(self.name)
            if (changes or version) and (not is_created):
                await self._enter()
                reply = await self._commands.configure(
                    manager, version, _stored_fields(policy, sorted(changes))
                )
                await self._check_expected(reply, policy)
        except LeaseqError:
            self._commands.learn(None)
            raise
        return policy

    async def _is_new(self) -> bool:
        """Whether there is no queue. Unlike `exists`, refuses one of an unknown schema."""
        try:
            await self._commands.policy(())
        except QueueNotFound:
            return True
        return False

    async def _check_expected(self, reply: Reply, policy: Policy) -> None:
        """Raise PolicyChanged where another policy is in force than the one that was expected."""
        if reply.code == replies.CHANGED:
            now = await self.policy
            if not reply.resent or now != policy:
                raise PolicyChanged(self.name, now)

    async def _create(self, policy: Policy, by: str = "") -> bool:
        """Create the queue; False where another process was faster."""
        fields = [*_stored_fields(policy, sorted(FIELDS)), "schema", str(SCHEMA)]
        await self._enter()
        while (reply := (await self._commands.configure(by, "create", fields))).code == replies.DELETING:
            await self._delete_keys()
            await self._enter()
        await self._enter()
        return bool(reply.rest[0]) or (reply.resent and await self.policy == policy)

    async def _enter(self) -> None:
        """Add the name to the list of queues, again if it was lost: see `queues`."""
        await self._connection.ask_all([("SADD", QUEUES, self.name)])
        self._connection.names.add(self.name)

    async def _delete_keys(self) -> None:
        """Finish what `delete` began: unlink the queue's keys, and take it off all lists."""
        with suppress(QueueNotFound):
            while (await self._commands.delete_keys(())).rest == [1]:
                pass
            while await self._unlink_keys():
                pass
            await forget_elsewhere(self._client, self.name)
            await self._connection.ask_all([("HDEL", WEBHOOK_STATE, f"follows {self.name}")])
            for key in (RESTORED_QUEUES, QUEUES):
                await self._connection.ask_all([("SREM", key, self.name)])
            self._connection.names.discard(self.name)
            await self._commands.delete_keys((), "end")
            return
        if not await self._is_new():
            await self._enter()

    async def _unlink_keys(self) -> bool:
        """Look through the server's keys once; whether there were any of this queue, or may be, since the
        server was restarted or replaced meanwhile."""
        cursor, has_keys = (0, False)
        witness = Witness(self._connection, self._keys.ledger)
        await witness.load()
        while True:
            cursor, parts = await self._scan_keys(cursor)
            for start in range(0, len(parts), _UNLINK_COUNT):
                await self._commands.delete_keys(parts[start : start + _UNLINK_COUNT])
                has_keys = True
            if cursor == 0:
                return has_keys or not await witness.is_there()

    async def _scan_keys(self, cursor: int) -> tuple[int, list[str]]:
        """One step through the server's keys: where the next one begins, and those of this queue but for the
        two that go last or stay, each without what all begin with."""
        next_cursor, names = await self._connection.scan(
            self._keys.ledger, cursor, of_queue(self.name), _SCAN_COUNT
        )
        kept_keys = {self._keys.ledger, self._keys.deleted}
        parts = [name.decode() for name in names if name.decode() not in kept_keys]
        return (next_cursor, [part.removeprefix(of_queue(self.name, "")) for part in parts])

    async def _send_checked(self, result: Json, send: Callable[[str], Awaitable[Reply]]) -> Reply:
        """The reply to an answer, which ``send`` sends with the version of the form that it was checked
        against: as last read, and again where the server says that it was changed since.

        A result that doesn't fit is sent as well: it may be one that was taken before the form changed, or
        belong to a lost lease, and then it is kept. In no other case is it taken.
        """
        while True:
            version, queue_form = self._form
            misfit: Invalid | None = None
            if queue_form is not None:
                try:
                    form.check_result(queue_form, result)
                except Invalid as error:
                    version, misfit = ("misfit", error)
            reply = await send(version)
            if reply.code != replies.FORM:
                return reply
            await self.find_policy()
            if misfit is not None and self._form[1] == queue_form:
                raise misfit

    def _item(self, reply: Reply, id: str) -> Item:
        return codec.item(id, reply.rest[0])
