"""The base of a queue: its client, its commands and its policy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from leaseq import form, validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.client import Client, check_client, connection_of
from leaseq.engine.commands import Clock, Commands
from leaseq.engine.connection import ServerMarker
from leaseq.engine.durability import check
from leaseq.engine.keys import QUEUES, RESTORED_QUEUES, WEBHOOK_STATE, Keys, of_queue
from leaseq.engine.parts import delete_related_data
from leaseq.engine.replies import Reply
from leaseq.errors import Invalid, ItemNotFound, LeaseqError, QueueExists, QueueNotFound
from leaseq.form.passages import check_passages
from leaseq.models import Item, Json, Lease
from leaseq.policy import FIELDS, TEXTS, Policy, PolicyChanged, PolicyChanges, from_server, to_server

_SCAN_COUNT = 1_000  # keys of the server that one call scans
_UNLINK_COUNT = 500  # keys that one call unlinks
FIRST_STEP = "0"  # HSCAN's cursor at its beginning, which it returns at its end
_UNCHECKED = "unchecked"  # the version of no form


class Base:
    def __init__(self, client: Client, name: str, *, clock: Clock | None = None) -> None:
        self.name = validation.queue_name(name)
        self._client = check_client(client)
        self._connection = connection_of(client)
        self._keys = Keys(self.name)
        self._commands = Commands(self._connection, self._keys, clock)

    def __repr__(self) -> str:
        return f"<leaseq.Queue {self.name}>"

    def exists(self) -> bool:
        """Whether the queue was configured, or anything was ever enqueued."""
        return self.schema is not None

    @property
    def schema(self) -> int | None:
        """The schema number of the queue's keys; None if there is no queue. If this version of leaseq doesn't
        know the schema, every other call raises QueueUnreadable before anything changes."""
        try:
            return int(self._commands.run("schema").rest[0])
        except QueueNotFound:
            return None

    @property
    def policy(self) -> Policy:
        """The current policy; the default policy if there is no queue."""
        return self.find_policy() or Policy()

    def find_policy(self) -> Policy | None:
        """The current policy, or None if there is no queue: `exists` and `policy` in one call."""
        try:
            lease_seconds, form_version, rules, *texts = self._commands.run("policy", *TEXTS).rest
        except QueueNotFound:
            return None
        policy = from_server(lease_seconds, rules, texts)
        self._cache_policy(policy, form_version.decode())
        return policy

    def _cache_policy(self, policy: Policy, form_version: str) -> None:
        self._connection.forms[self._keys.ledger] = (form_version, policy.form)
        self._commands.cache_policy(policy.durable, form_version)

    def configure(
        self,
        *,
        by: str | None = None,
        expected: Policy | str | None = None,
        create_only: bool = False,
        **changes: Unpack[PolicyChanges],
    ) -> Policy:
        """Change some fields of the policy and return the whole policy. Creates the queue if there is none.

        ``expected``, a policy or its ``version``: change the policy only if this one is in force; otherwise
        raises PolicyChanged, or QueueNotFound if there is no queue. ``create_only``: raises QueueExists if
        there is a queue. Raises Invalid with the field's name. After any of these errors nothing has changed.
        """
        version = expected_version(expected)
        if version and create_only:
            raise Invalid("create_only", "not_together", other="expected")
        old_policy = Policy() if create_only else self.policy
        policy = old_policy.updated(changes, other_names=("by", "expected", "create_only"))
        if "form" in changes:
            form.check_form(policy.form)
        if policy.durable != old_policy.durable:
            key = self._keys.ledger
            check(policy.durable, partial(self._connection.ask, key), partial(self._connection.replicas, key))
        manager = arguments.author(by)
        is_new = not version and self._is_new()
        # Before the call, so that it waits as the new policy requires.
        new_version = form.version(policy.form) if "form" in changes else self._commands.form_version or "-"
        self._cache_policy(policy, new_version)
        try:
            is_created = is_new and self._create(policy, manager)
            if create_only and not is_created:
                raise QueueExists(self.name)
            if (changes or version) and not is_created:
                self._add_to_queue_names()
                reply = self._commands.run(
                    "configure", manager, version, *_stored_fields(policy, sorted(changes))
                )
                self._check_expected(reply, policy)
        except LeaseqError:
            self._commands.forget_policy()
            raise
        return policy

    def _is_new(self) -> bool:
        """Whether there is no queue. Unlike `exists`, raises QueueUnreadable for an unknown schema."""
        try:
            self._commands.run("policy")
        except QueueNotFound:
            return True
        return False

    def _check_expected(self, reply: Reply, policy: Policy) -> None:
        """Raise PolicyChanged if the policy in force is not the expected one."""
        if reply.code == replies.CHANGED:
            now = self.policy
            if not reply.resent or now != policy:  # a call that was resent finds its own change
                raise PolicyChanged(self.name, now)

    def _create(self, policy: Policy, by: str = "") -> bool:
        """Create the queue; False if another process was faster."""
        fields = _stored_fields(policy, sorted(FIELDS))
        self._add_to_queue_names()
        while (reply := self._commands.run("configure", by, "create", *fields)).code == replies.DELETING:
            self._delete_keys()
            self._add_to_queue_names()
        self._add_to_queue_names()  # a concurrent delete may have removed the name
        return bool(reply.rest[0]) or (reply.resent and self.policy == policy)  # if resent, it finds its own

    def _add_to_queue_names(self) -> None:
        """Add the name to the list of queues, also if the list has lost it: see `queues`."""
        self._connection.ask_all([("SADD", QUEUES, self.name)])
        self._connection.names.add(self.name)

    def _delete_keys(self) -> None:
        """Finish what `delete` began: unlink the queue's keys, and remove its name from all lists."""
        with suppress(QueueNotFound):  # another caller was faster
            while self._commands.run("delete_keys", "").rest == [1]:  # this wakes the waiting calls
                pass
            while self._unlink_keys():
                pass
            delete_related_data(self._client, self.name)
            self._connection.ask_all([("HDEL", WEBHOOK_STATE, f"follows {self.name}")])
            for key in (RESTORED_QUEUES, QUEUES):  # in two slots of a cluster
                self._connection.ask_all([("SREM", key, self.name)])
            self._connection.names.discard(self.name)
            self._commands.run("delete_keys", "end")
            return
        if not self._is_new():  # another caller made a new queue, whose name may have been removed here
            self._add_to_queue_names()

    def _unlink_keys(self) -> bool:
        """Scan the server's keys once, and unlink those of this queue. True if there were any, or may still
        be some, because the server was restarted or replaced during the scan."""
        cursor, has_keys = 0, False
        marker = ServerMarker(self._connection, self._keys.ledger)
        marker.load()
        while True:
            cursor, parts = self._scan_keys(cursor)
            for start in range(0, len(parts), _UNLINK_COUNT):
                self._commands.run("delete_keys", "", *parts[start : start + _UNLINK_COUNT])
                has_keys = True
            if cursor == 0:
                return has_keys or not marker.is_present()

    def _scan_keys(self, cursor: int) -> tuple[int, list[str]]:
        """One step of a scan of the server's keys: the next cursor, and the keys of this queue without their
        common prefix, except the one that is deleted last and the one that is kept."""
        next_cursor, names = self._connection.scan(
            self._keys.ledger, cursor, of_queue(self.name), _SCAN_COUNT
        )
        kept_keys = {self._keys.ledger, self._keys.deleted}
        parts = [name.decode() for name in names if name.decode() not in kept_keys]
        return next_cursor, [part.removeprefix(of_queue(self.name, "")) for part in parts]

    @property
    def _form(self) -> tuple[str, Json]:
        """The version of the queue's form, and the form, as last read."""
        return self._connection.forms.get(self._keys.ledger, ("-", None))

    def _lease(self, parts: Sequence[Any]) -> Lease:
        """Decode a lease, with the form that counts: the item's own, else the queue's."""
        lease = codec.lease(self.name, parts)
        if lease.form is not None:
            return lease
        if self._commands.form_version not in ("-", self._form[0]):
            self.find_policy()
        queue_form = None if self._commands.form_version == "-" else self._form[1]
        return lease if queue_form is None else replace(lease, form=queue_form)

    def _send_checked(
        self, id: str, result: Json, expected_form: Json, send: Callable[[str], Reply]
    ) -> Reply:
        """Send an answer with the version of the form that it was checked against, and return the reply. The
        form is the queue's, as last read; if the server replies that it has changed since, or that the item
        has a form of its own, check and send again, or raise PolicyChanged if it is not the expected one.

        A result that doesn't fit, or is for another form, is sent as well: it may be one that was accepted
        before the form changed, or belong to a lost lease, and then it is kept as a late answer. In all other
        cases it is refused.
        """
        version, asked_form = self._form
        while True:
            sent_version = version if _is_expected(expected_form, asked_form) else _UNCHECKED
            misfit: Invalid | None = None
            try:
                if asked_form is not None:
                    form.check_result(asked_form, result)
                    if form.marked_texts(asked_form):
                        self._check_passages(id, asked_form, result)
            except Invalid as error:
                sent_version, misfit = _UNCHECKED, error
            reply = send(sent_version)
            if reply.code != replies.FORM:
                return reply
            checked_version = version
            if reply.rest and reply.rest[0]:
                text = reply.rest[0].decode()
                version, asked_form = form.version_of_text(text), json.loads(text)
            else:
                self.find_policy()  # read the form again
                version, asked_form = self._form
            if not _is_expected(expected_form, asked_form):
                raise PolicyChanged(self.name, self.policy)
            if misfit is not None and version == checked_version:
                raise misfit

    def _check_passages(self, id: str, asked_form: Json, result: Json) -> None:
        """Check the answer's passages against the item's text. The script says if there is no such item."""
        with suppress(ItemNotFound):
            check_passages(asked_form, self._run_on_item("get", id).payload, result)

    def _scan(self, send: Callable[[str], Reply]) -> Iterator[tuple[Item, Sequence[Any]]]:
        """Yield each item in the steps of a script, once, with what else the reply has about it. ``send``
        returns a step's reply: HSCAN's next cursor, and the items, some of which an earlier step may have
        had."""
        step, seen_ids = FIRST_STEP, set[str]()
        marker = ServerMarker(self._connection, self._keys.ledger)
        marker.load()
        while True:
            next_step, *rows = send(step).rest
            new_rows = {id: row for row in rows if (id := row[0].decode()) not in seen_ids}
            seen_ids |= new_rows.keys()
            items = self._compared([codec.item(id, row[1]) for id, row in new_rows.items()])
            for item in items:
                yield item, new_rows[item.id][2:]
            step = next_step.decode()
            if step == FIRST_STEP:
                if marker.is_present():
                    return
                marker.load()  # and start over: a cursor of one server means nothing to another

    def _run_on_item(self, script: str, id: str, *values: str | int) -> Item:
        """Run a script whose first argument is an item's id, and whose reply is the item."""
        item = codec.item(id, self._commands.run(script, validation.item_id(id), *values).rest[0])
        return self._compared([item])[0]

    def _compared(self, items: Sequence[Item]) -> list[Item]:
        """The items, with `Answer.changed`: their answers compared with what their form prefills."""
        if not any(item.answers or item.late_answers for item in items):
            return list(items)
        queue_form = self.policy.form
        return [_compared(item, queue_form if item.form is None else item.form) for item in items]


def _compared(item: Item, asked_form: Json) -> Item:
    if not form.prefilled(asked_form, item.payload):
        return item
    answers, late_answers = (
        tuple(
            replace(answer, changed=form.changed(asked_form, answer.payload, answer.result))
            for answer in group
        )
        for group in (item.answers, item.late_answers)
    )
    return replace(item, answers=answers, late_answers=late_answers)


def expected_version(expected: Policy | str | None) -> str:
    """The expected version; '' for any."""
    if expected is None:
        return ""
    version = expected.version if isinstance(expected, Policy) else validation.text(expected, "expected", 40)
    if not re.fullmatch("[0-9a-f]{40}", version):
        raise Invalid("expected", "format", what="policy_version")
    return version


def _is_expected(expected_form: Json, asked_form: Json) -> bool:
    """Whether the form that counts is the expected one; ``...``: any is."""
    if expected_form is ... or expected_form is asked_form:
        return True
    validation.dump_json(expected_form, "expected_form")
    return form.version(expected_form) == form.version(asked_form)


def _stored_fields(policy: Policy, names: Collection[str]) -> list[str]:
    return to_server(policy, names, form.version(policy.form) if "form" in names else "")
