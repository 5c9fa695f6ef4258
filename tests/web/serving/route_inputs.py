"""For each route, its largest input: the table of test_slices_of_routes."""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pyotp
import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

import leaseq
from leaseq import transfer, webhooks
from leaseq.transfer.workbooks import workbook
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.files.kept import Files
from leaseq.webapp.files.keys import ANY_TYPE, Place, SentFile
from leaseq.webapp.manage.importing.mapping import ImportMapping, bad_row_message
from leaseq.webapp.manage.importing.new_queue import NO_QUEUE
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.jobs.imports import BadRows, ImportJobs
from leaseq.webapp.store.threads import Threads
from tests.support.leases import not_none
from tests.web.conftest import PASSWORD

TEXT = "some words, " * 21_000  # nearly the largest payload, result or draft
REASON = "why " * 500
RESULT = {"note": TEXT}
ROWS = b"id,text\n" + b"".join(b"r-%d,some words\n" % n for n in range(5_000))
WORKBOOK = b"".join(workbook(["id", "text"], ({"id": f"w-{n}", "text": "some words"} for n in range(5_000))))
WIDE_ROW = b"id,text\n" + b"," * 2_000_000 + b"\n"
SPARSE_ROWS = json.dumps({f"c{n}": 1 for n in range(20_000)}).encode() + b"\n{}" * 199
MANY_LINES = "\n".join(f"somebody {n}" for n in range(60_000))
MARKDOWN = ("# Title\n\n" + "Some *words* and [links](https://example.org).\n\n" * 1_400)[:65_000]
FORM = {
    "show": [{"field": f"f{n}", "kind": "text"} for n in range(100)],
    "ask": {
        "type": "object",
        "properties": {
            "note": {"type": "string"},
            "kind": {"enum": [f"choice {n}" for n in range(200)]},
            **{f"q{n}": {"title": f"Question {n}?", "type": "string"} for n in range(200)},
        },
    },
}
ROW_OF_TABLE = {"type": "object", "properties": {f"c{n}": {"type": "string"} for n in range(20)}}
TABLES = {
    "ask": {
        "type": "object",
        "properties": {f"t{n}": {"type": "array", "items": ROW_OF_TABLE} for n in range(20)},
    }
}
FILE_MEMBERS: dict[str, Any] = {name: {} for name in ("key", "name", "size", "type")}
FILE_FORM = {
    "ask": {
        "type": "object",
        "properties": {
            "file": {"type": "array", "x-widget": "file", "items": {"properties": FILE_MEMBERS}},
        },
    }
}
LARGE_FILE = b"some words" * 1_000_000
JSON = "application/json"
FORM_KIND = "application/x-www-form-urlencoded"
XLSX = transfer.CONTENT_TYPES["xlsx"]

OK = (200, 201, 204, 303)
NEW_PASSWORD = "another correct horse"


@dataclass(frozen=True)
class Input:
    """The largest input of a route."""

    values: Mapping[str, str] = field(default_factory=dict)  # of the path
    query: str = ""
    body: bytes | None = None
    kind: str = ""
    statuses: tuple[int, ...] = OK
    is_stream: bool = False  # it never ends
    person: str | None = None  # who sends it, if not the admin: a person with PASSWORD, or "" for nobody yet


class World:
    """The data that routes read, as large as it may be, and what each call needs anew."""

    def __init__(self, app: Flask, server: Any, accounts: Accounts, threads: Threads, admin: str) -> None:
        self._app, self._client = app, server.client
        self.accounts, self.threads, self.admin = accounts, threads, admin
        self._jobs = ImportJobs(server.client)
        self.files: Files = app.extensions[EXTENSION].files
        self.endpoints = webhooks.Endpoints(server.client)
        self.token = accounts.create_token(self.admin, "test", by="test")
        self.queue = self.new_queue(instructions=MARKDOWN, form=FORM, holds=100, title="Large")
        self._fill()
        self.table = self._worked_queue()
        self.people = [self.new_person(skills=("fr", "de")) for _ in range(500)]
        for _ in range(100):
            self.new_invitation()
            self.new_queue()

    def _fill(self) -> None:
        """Items in each state, answers, late answers, and notes."""
        queue = self.queue
        for n in range(40):
            queue.enqueue({"text": TEXT, "n": n}, due=datetime(2030, 1, 1, tzinfo=UTC))
        queue.enqueue_many([{"text": "some words", "n": n} for n in range(2_000)])
        for n in range(60):
            lease = self.lease(f"worker-{n % 20}", large=n < 20)
            if n % 3:
                queue.finish(lease, RESULT if n < 20 else {"note": "spam"})
            else:
                queue.fail(lease, REASON, retry=False)
            self.threads.ask(queue.name, lease.id, lease.person, REASON, message=f"m{n}")

    def _worked_queue(self) -> leaseq.Queue:
        """A queue whose answers fit into the cells of a workbook."""
        queue = self.new_queue()
        queue.enqueue_many([{"text": "some words " * 100, "n": n} for n in range(300)])
        for _ in range(300):
            queue.finish(not_none(queue.reserve(self.admin)), {"note": "some words", "n": 5})
        return queue

    def new_queue(self, **policy: Any) -> leaseq.Queue:
        queue = leaseq.Queue(self._client, f"q-{secrets.token_hex(6)}")
        queue.configure(**policy)
        return queue

    def new_invitation(self) -> str:
        return self.accounts.invite(by=self.admin, skills=("fr", "de"))

    def new_person(self, **options: Any) -> str:
        name = f"person-{secrets.token_hex(4)}"
        self.accounts.add(name, by="test", role="worker", **options)
        return name

    def new_webhook(self) -> str:
        for endpoint in self.endpoints.all():
            self.endpoints.remove(endpoint.id)
        return self.endpoints.add("https://1.1.1.1/hook", by=self.admin).endpoint.id

    def new_job(self, queue: str | None = None, filename: str = "rows.csv", **fields: int) -> str:
        mapping = ImportMapping.from_form(MultiDict({"id_field": "id"}), filename)
        id = self._jobs.create(self.queue.name if queue is None else queue, self.admin, mapping.to_record())
        self._jobs.update(id, **fields)
        return id

    def run_job(self) -> str:
        """A job that rejected many rows."""
        id = self.new_job()
        self._jobs.begin(id)
        bad_rows = BadRows(self._jobs, id, bad_row_message)
        with self._app.test_request_context():  # the reasons are in the language of a request
            for line in range(2_000):
                bad_rows.add(
                    transfer.BadRow(
                        line,
                        leaseq.Invalid("row", "format", what="number"),
                        ["some", "words"],
                        raw=b"some,words\n",
                    )
                )
            bad_rows.flush()
        return id

    def new_token(self, person: str | None = None) -> str:
        owner = person or self.admin
        self.accounts.create_token(owner, "spare", by="test")
        spare = [token for token in self.accounts.tokens(owner) if token.name == "spare"]
        return spare[-1].id

    def item(self) -> str:
        return self.queue.enqueue({"text": TEXT}).id

    def question(self, queue: leaseq.Queue) -> str:
        """The id of a new question of the admin."""
        id = secrets.token_hex(6)
        with pytest.raises(leaseq.StillWaiting):
            queue.ask({"text": TEXT}, id=id, form=FORM, by=self.admin, wait=0)
        return id

    def assigned(self) -> str:
        id = self.item()
        self.queue.assign(id, self.admin)
        return id

    def asked(self) -> str:
        """An item with a long thread."""
        lease = self.lease()
        for n in range(50):
            self.threads.ask(self.queue.name, lease.id, self.admin, REASON, message=f"m{n}")
        return lease.id

    def lease(self, person: str | None = None, *, large: bool = True) -> leaseq.Lease:
        self.queue.enqueue({"text": TEXT if large else "some words"}, priority=0)
        return not_none(self.queue.reserve(person or self.admin))

    def finished(self) -> leaseq.Lease:
        lease = self.lease()
        self.queue.finish(lease, RESULT)
        return lease

    def late(self) -> leaseq.Lease:
        """A lease that was taken away, with its late answer."""
        queue = self.new_queue(form=FORM)
        queue.enqueue({"text": TEXT})
        lease = not_none(queue.reserve(self.admin))
        queue.release(lease.id)
        not_none(queue.reserve("worker-1"))
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, RESULT)
        return lease

    def file_lease(self) -> leaseq.Lease:
        """A lease of an item that asks for a file."""
        queue = self.new_queue(form=FILE_FORM)
        queue.enqueue({"text": "some words"})
        return not_none(queue.reserve(self.admin))

    def announced(self) -> tuple[dict[str, str], SentFile, str]:
        """The path of a large file that the admin may send, the file, and its ticket."""
        lease = self.file_lease()
        keys = self.files.keys
        place = Place(lease.queue, lease.id, "file", self.admin)
        file = keys.new_file(place, "large.bin", len(LARGE_FILE), ANY_TYPE)
        path = {"q": lease.queue, "id": lease.id, "file": file.last_part}
        return path, file, keys.ticket(file, self.admin)

    def sent(self) -> dict[str, str]:
        """The path of a large file in a draft."""
        path, file, _ticket = self.announced()
        self.files.storage.put(file.key, io.BytesIO(LARGE_FILE), file.size)
        queue = leaseq.Queue(self._client, path["q"])
        (lease,) = queue.mine(self.admin)
        queue.save_draft(lease, {"file": [file.to_json()]})
        return path

    def dead(self) -> leaseq.Lease:
        lease = self.lease()
        self.queue.fail(lease, REASON, retry=False)
        return lease


Maker = Callable[[World], Input]


def form_of(fields: Mapping[str, str | list[str]]) -> bytes:
    return urlencode(fields, doseq=True).encode()


def get(query: str = "", **options: Any) -> Maker:
    return lambda world: Input({"q": world.queue.name}, query, **options)


def of(read: Callable[[World], dict[str, str]], **options: Any) -> Maker:
    """A route with more in its path than the queue."""
    return lambda world: Input({"q": world.queue.name, **read(world)}, **options)


def _about(
    prepare: Callable[[World], leaseq.Lease],
) -> Callable[[World], tuple[leaseq.Lease, dict[str, str]]]:
    def read(world: World) -> tuple[leaseq.Lease, dict[str, str]]:
        lease = prepare(world)
        return lease, {"q": lease.queue, "id": lease.id}

    return read


def rest_lease(prepare: Callable[[World], leaseq.Lease], **fields: Any) -> Maker:
    """A REST call about a lease or an answer."""

    def make(world: World) -> Input:
        lease, values = _about(prepare)(world)
        body = json.dumps({"token": lease.token, **fields}).encode()
        return Input(values, body=body, kind=JSON)

    return make


def page_lease(prepare: Callable[[World], leaseq.Lease], fields: Mapping[str, str] | None = None) -> Maker:
    """A page's form about a lease or an answer."""

    def make(world: World) -> Input:
        lease, values = _about(prepare)(world)
        return Input(values, body=form_of({"token": str(lease.token), **(fields or {})}), kind=FORM_KIND)

    return make


def large_tables(world: World) -> Input:
    """A draft with a cell for each part of many tables."""
    queue = world.new_queue(form=TABLES)
    queue.enqueue({"text": "some words"})
    lease = not_none(queue.reserve(world.admin))
    cells = {
        f"answer.t{table}.{row}.c{column}": "x"
        for table, row, column in product(range(20), range(12), range(20))
    }
    body = form_of({"token": str(lease.token), **cells})
    return Input({"q": queue.name, "id": lease.id}, body=body, kind=FORM_KIND)


def query_lease(prepare: Callable[[World], leaseq.Lease]) -> Maker:
    """A page about a lease or an answer, which the query names."""

    def make(world: World) -> Input:
        lease, values = _about(prepare)(world)
        return Input(values, query=f"token={lease.token}")

    return make


def rest(fields: Any, read: Callable[[World], dict[str, str]] = lambda _: {}, **options: Any) -> Maker:
    body = json.dumps(fields).encode()
    return lambda world: Input({"q": world.queue.name, **read(world)}, body=body, kind=JSON, **options)


def page(
    fields: Mapping[str, str | list[str]] | None = None,
    read: Callable[[World], dict[str, str]] = lambda _: {},
    **options: Any,
) -> Maker:
    body = form_of(fields or {})
    return lambda world: Input({"q": world.queue.name, **read(world)}, body=body, kind=FORM_KIND, **options)


def new_id(read: Callable[[World], str]) -> Callable[[World], dict[str, str]]:
    return lambda world: {"id": read(world)}


def new_name(world: World) -> dict[str, str]:
    return {"name": world.new_person()}


def new_webhook(world: World) -> dict[str, str]:
    return {"webhook": world.new_webhook()}


def new_queue(world: World) -> dict[str, str]:
    return {"q": world.new_queue().name}


def workbook_job(world: World) -> str:
    return world.new_job(filename="rows.xlsx")


def job_without_queue(world: World) -> str:
    return world.new_job(NO_QUEUE)


def checked_job(world: World) -> str:
    """A job of a new queue whose whole file was read."""
    return world.new_job(NO_QUEUE, importable=5_000)


def invitation_id(world: World) -> str:
    world.new_invitation()
    return world.accounts.invitations()[0].id


def new_team(world: World) -> dict[str, str]:
    name = f"Team {secrets.token_hex(4)}"
    world.new_person(team=name)
    return {"team": name}


def rename_team(world: World) -> Input:
    fields = {**new_team(world), "to": f"New {secrets.token_hex(4)}"}
    return Input(body=form_of(fields), kind=FORM_KIND)


def upload(
    content: bytes,
    file_field: str,
    read: Callable[[World], dict[str, str]] = lambda _: {},
    /,
    filename: str = "rows.csv",
    **fields: str,
) -> Maker:
    """A page's form with a file."""
    boundary = "limit"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{file_field}"; filename="{filename}"\r\n\r\n'
    )
    body = b"".join([*parts, head.encode(), content, f"\r\n--{boundary}--\r\n".encode()])
    kind = f"multipart/form-data; boundary={boundary}"
    return lambda world: Input({"q": world.queue.name, **read(world)}, body=body, kind=kind)


def stream(read: Callable[[World], dict[str, str]], content: bytes) -> Maker:
    """A file as the body."""
    return lambda world: Input(
        {"q": world.queue.name, **read(world)}, body=content, kind="application/octet-stream"
    )


def own(fields: Mapping[str, str] | None = None, *, has_token: bool = False) -> Maker:
    """A form of a person's own account, who may be signed out by it."""

    def make(world: World) -> Input:
        name = world.new_person(password=PASSWORD)
        values = {"id": world.new_token(name)} if has_token else {}
        return Input(values, body=form_of(fields or {}), kind=FORM_KIND, person=name)

    return make


def offered_factor(world: World) -> Input:
    """The page, and the form, with which a second factor is turned on."""
    name = world.new_person(password=PASSWORD)
    code = pyotp.TOTP(world.accounts.factors.offer(name)).now()
    return Input(body=form_of({"code": code}), kind=FORM_KIND, person=name)


def code(world: World) -> Input:
    """The second step of a sign-in."""
    name = world.new_person(password=PASSWORD)
    first_code = pyotp.TOTP(world.accounts.factors.offer(name)).now()
    recovery_code = world.accounts.factors.confirm(name, first_code)[0]
    return Input(body=form_of({"code": recovery_code}), kind=FORM_KIND, person=name)


def login(world: World) -> Input:
    name = world.new_person(password=PASSWORD)
    return Input(body=form_of({"name": name, "password": PASSWORD}), kind=FORM_KIND, person="")


def welcome(world: World) -> Input:
    fields = {"name": secrets.token_hex(8), "new_password": PASSWORD, "again": PASSWORD}
    query = f"token={world.new_invitation()}"
    return Input(query=query, body=form_of(fields), kind=FORM_KIND, person="")


def invite(world: World) -> Input:
    names = "\n".join(f"{secrets.token_hex(4)} {n}" for n in range(100))  # 500 take as long a slice, and 20 s
    return Input(body=form_of({"name": names}), kind=FORM_KIND)


def create(world: World) -> Input:
    return Input(body=form_of({"name": secrets.token_hex(8), "title": "New " * 20}), kind=FORM_KIND)


def rest_access(world: World) -> Input:
    body = json.dumps({"work": {"people": world.people}, "manage": None}).encode()
    return Input(new_queue(world), body=body, kind=JSON)


def page_access(world: World) -> Input:
    fields = {"work": "some", "work.people": "\n".join(world.people)}
    return Input(new_queue(world), body=form_of(fields), kind=FORM_KIND)


def answered(world: World) -> Input:
    queue = world.new_queue()
    id = world.question(queue)
    queue.finish(not_none(queue.reserve(world.admin)), RESULT)
    return Input({"q": queue.name, "id": id})


def rest_of_item(read: Callable[[World], str], *, person: bool = False) -> Maker:
    """A REST call about an item."""

    def make(world: World) -> Input:
        body = {"person": world.admin} if person else {}
        return Input({"q": world.queue.name, "id": read(world)}, body=json.dumps(body).encode(), kind=JSON)

    return make


def page_of_item(world: World) -> Input:
    body = form_of({"person": world.admin})
    return Input({"q": world.queue.name, "id": world.item()}, body=body, kind=FORM_KIND)


def page_late(world: World) -> Input:
    lease = world.late()
    body = form_of({"id": [f"{lease.token} {lease.id}"]})
    return Input({"q": lease.queue}, body=body, kind=FORM_KIND)


def delete_queue(world: World) -> Input:
    name = world.new_queue().name
    return Input({"q": name}, body=form_of({"name": name}), kind=FORM_KIND)


def erase_person(world: World) -> Input:
    name = world.new_person()
    return Input({"name": name}, body=form_of({"name": name}), kind=FORM_KIND)


def revoke_token(world: World) -> Input:
    return Input({"name": world.admin, "id": world.new_token()}, body=b"", kind=FORM_KIND)


STATIC = "manage/settings.css"
LONG_LIST = "limit=1000"
MANY_IDS = [f"item-{n}" for n in range(1_000)]
SIMULATION = {
    "people": "1", "think": "600", "minutes": "1", "abandon": "0", "fail": "0", "walk_away": "0",
    "confirmed": "yes",
}  # fmt: skip
POLICY = {"instructions": MARKDOWN, "form": json.dumps(FORM), "title": "Large"}
ARRAY = [{"payload": "some words"}] * 10_000


def send_file(world: World) -> Input:
    path, _file, ticket = world.announced()
    return Input(path, f"ticket={ticket}", LARGE_FILE, ANY_TYPE)


INPUTS: dict[str, Maker] = {
    "GET api.answers": get(),
    "GET api.events": get("after=1.0", is_stream=True),
    "GET api.export_items": get("query=words"),
    "GET api.export_person": of(lambda world: {"name": world.admin}),
    "GET api.get_access": get(),
    "GET api.get_announcement": get(statuses=(200, 404)),
    "GET api.get_answer": answered,
    "GET api.get_item": of(new_id(World.item)),
    "GET api.get_me": get(),
    "GET api.get_person": of(new_name),
    "GET api.get_queue": get(),
    "GET api.get_webhook": of(new_webhook),
    "GET api.journal": get(LONG_LIST),
    "GET api.list_deliveries": of(new_webhook, query="limit=100"),
    "GET api.list_due": get(LONG_LIST),
    "GET api.list_invitations": get(LONG_LIST),
    "GET api.list_items": get(f"state=inbound&{LONG_LIST}"),
    "GET api.list_late": of(lambda world: {"q": world.late().queue}, query=LONG_LIST),
    "GET api.list_log": get(LONG_LIST),
    "GET api.list_people": get(LONG_LIST),
    "GET api.list_queues": get(LONG_LIST),
    "GET api.list_tokens": get(LONG_LIST),
    "GET api.list_webhooks": get(LONG_LIST),
    "GET api.mine": get(LONG_LIST),
    "GET api.new_answers": get(LONG_LIST),
    "GET api.search_items": get(f"find=words&{LONG_LIST}"),
    "GET api.stats": get(),
    "GET api.stopped": get(),
    "POST api.abandon": rest_lease(World.lease, reason=REASON),
    "POST api.add_webhook": rest({"url": "https://1.1.1.1/other"}),
    "POST api.adopt": rest_lease(World.late),
    "POST api.assign": rest_of_item(World.item, person=True),
    "POST api.bulk": rest({"action": "release", "ids": MANY_IDS}),
    "PATCH api.change": rest({"payload": TEXT}, new_id(World.item)),
    "POST api.clear": rest({}, new_queue),
    "POST api.correct": rest_lease(World.finished, result=RESULT),
    "POST api.create_invitation": rest({"skills": [f"skill-{n}" for n in range(16)]}),
    "POST api.create_password_link": rest({}, new_name),
    "POST api.create_token": rest({"name": "some words"}),
    "DELETE api.delete": of(new_queue),
    "DELETE api.delete_announcement": get(),
    "DELETE api.delete_person": of(new_name),
    "POST api.disable_webhook": rest({}, new_webhook),
    "POST api.announce_file": rest_lease(
        World.file_lease, question="file", name="long name " * 10_000, size=len(LARGE_FILE)
    ),
    "PUT api.send_file": send_file,
    "GET api.get_file": lambda world: Input(world.sent()),
    "GET work.file": lambda world: Input(world.sent()),
    "PUT api.draft": rest_lease(World.lease, draft=TEXT),
    "POST api.enable_webhook": rest({}, new_webhook),
    "DELETE api.end_sessions": of(new_name),
    "POST api.ask": rest({"payload": {"text": TEXT}, "form": FORM}, statuses=(202,)),
    "POST api.cancel": rest({"reason": REASON}, new_id(World.item)),
    "DELETE api.cancel_question": of(new_id(lambda world: world.question(world.queue))),
    "POST api.enqueue": rest(ARRAY),
    "POST api.fail": rest_lease(World.lease, error=REASON),
    "POST api.finish": rest_lease(World.lease, result=RESULT),
    "POST api.import_rows": lambda world: Input(
        {"q": world.queue.name}, body=WIDE_ROW + ROWS, kind="text/csv"
    ),
    "POST api.pause": rest({"reason": REASON}, new_queue),
    "PUT api.put_access": rest_access,
    "PUT api.put_announcement": rest({"text": REASON[:200]}),
    "PUT api.put_person": rest({"skills": [f"skill-{n}" for n in range(16)]}, new_name),
    "POST api.stop": rest({"reason": REASON}, new_name),
    "POST api.let_work": rest({}, new_name),
    "PUT api.put_queue": rest({"form": FORM, "instructions": MARKDOWN}, new_queue),
    "POST api.release": rest_of_item(lambda world: world.lease().id),
    "DELETE api.remove": of(new_id(World.item)),
    "POST api.remove_all": rest({"state": "dead", "error": "words"}),
    "DELETE api.remove_webhook": of(new_webhook),
    "POST api.renew": rest_lease(World.lease),
    "POST api.reopen": rest_lease(World.finished, reason=REASON),
    "POST api.replay_webhook": rest({"since": "2026-01-01"}, new_webhook),
    "POST api.reserve": rest({}),
    "DELETE api.reset_factor": of(new_name),
    "POST api.resume": rest({}, new_queue),
    "POST api.rename_team": rest({"to": f"New {secrets.token_hex(4)}"}, new_team),
    "POST api.renew_invitation": rest({}, lambda world: {"invitation": invitation_id(world)}),
    "POST api.revive": rest({}, new_id(lambda world: world.dead().id)),
    "POST api.revive_all": rest({"error": "words"}),
    "DELETE api.revoke_invitation": of(lambda world: {"invitation": invitation_id(world)}),
    "DELETE api.revoke_token": of(lambda world: {"token": world.new_token()}),
    "POST api.rotate_token": rest({}, lambda world: {"token": world.new_token()}),
    "POST api.rotate_webhook": rest({}, new_webhook),
    "POST api.test_webhook": rest({}, new_webhook),
    "DELETE api.unassign": of(new_id(World.assigned)),
    "POST api.undo": rest_lease(World.finished),
    "GET auth.account": get(),
    "POST auth.begin_factor": own({"password": PASSWORD}),
    "POST auth.change_password": own(
        {"password": PASSWORD, "new_password": NEW_PASSWORD, "again": NEW_PASSWORD}
    ),
    "GET auth.code": code,
    "POST auth.code": code,
    "POST auth.confirm_factor": offered_factor,
    "POST auth.create_token": own({"token_name": "some words", "password": PASSWORD}),
    "POST auth.end_factor": own({"password": PASSWORD}),
    "POST auth.end_sessions": own(),
    "GET auth.factor": offered_factor,
    "GET auth.link_provider": get(),
    "POST auth.link_provider": page(),
    "GET auth.login": get(),
    "POST auth.login": login,
    "POST auth.logout": own(),
    "GET auth.provider": get(statuses=(404,)),
    "GET auth.provider_callback": get(statuses=(404,)),
    "POST auth.revoke_token": own(has_token=True),
    "GET auth.welcome": welcome,
    "POST auth.welcome": welcome,
    "GET docs.openapi": get(),
    "GET docs.page": get(),
    "GET guides.guide": of(lambda _: {"name": "person"}),
    "GET guides.how_to": of(lambda _: {"name": "add-items"}),
    "GET guides.index": get("q=some+words"),
    "GET guides.picture": of(lambda _: {"name": "work.png"}),
    "GET monitoring.healthz": get(),
    "GET monitoring.readyz": get(),
    "POST auth.language": page({"language": "de"}),
    "GET manage.access": get(),
    "GET manage.announcement": get(),
    "POST manage.access_matches": page_access,
    "POST manage.add_demo": page(),
    "POST manage.add_item": page({"json": json.dumps(TEXT), "form": "json"}),
    "POST manage.adopt": page_lease(World.late),
    "POST manage.adopt_late": page_late,
    "POST manage.answer": page({"text": REASON}, new_id(World.asked)),
    "GET manage.answers": get(),
    "POST manage.apply_template": page({**POLICY, "from": "items"}),
    "POST manage.assign": page_of_item,
    "POST manage.change": page({"payload": json.dumps(TEXT)}, new_id(World.item)),
    "POST manage.change_queue_access": page_access,
    "GET manage.charts": get(),
    "POST manage.check_new_queue": stream(new_id(job_without_queue), WIDE_ROW + ROWS),
    "POST manage.check_file": stream(new_id(World.new_job), WIDE_ROW + ROWS),
    "POST manage.choose_columns": page({"column": [f"f{n}" for n in range(1_000)]}),
    "POST manage.clear": page({}, new_queue),
    "POST manage.confirm_bulk": page({"move": "release", "which": "all"}),
    "GET manage.confirm_delete": get(),
    "GET manage.confirm_lower": get(),
    "POST manage.confirm_late": page_late,
    "POST manage.correct": page_lease(World.finished, {"answer.note": TEXT}),
    "GET manage.correction": query_lease(World.finished),
    "GET manage.count_found": get("find=words"),
    "POST manage.create": create,
    "POST manage.create_from_file": upload(ROWS, "file"),
    "POST manage.create_queue_of_job": upload(ROWS[:200_000], "piece", new_id(checked_job), name="rows.csv"),
    "POST manage.delete": delete_queue,
    "GET manage.export": get(),
    "POST manage.export_items": page({"move": "export", "which": "all", "format": "csv"}),
    "POST manage.import_file": upload(WIDE_ROW + ROWS, "file", skip="yes"),
    "GET manage.import_job": of(new_id(World.run_job)),
    "GET manage.import_page": get(),
    "GET manage.item": of(new_id(lambda world: world.finished().id)),
    "GET manage.items": get("find=words"),
    "GET manage.late": of(lambda world: {"q": world.late().queue}),
    "GET manage.live": get(is_stream=True),
    "GET manage.new_queue": get(),
    "GET manage.one_queue": get(),
    "GET manage.overview": get(),
    "POST manage.announce": page({"text": REASON[:200]}),
    "POST manage.end_announcement": page(),
    "POST manage.pause": page({"reason": REASON}, new_queue),
    "GET manage.peek": of(new_id(lambda world: world.finished().id)),
    "POST manage.plan_import": page({"name": "rows.csv"}),
    "POST manage.plan_new_queue": page({"name": "rows.csv"}),
    "POST manage.preview_new_queue": upload(WIDE_ROW[:1_000_000], "piece", name="rows.csv"),
    "POST manage.preview_file": upload(WIDE_ROW[:1_000_000], "piece", name="rows.csv"),
    "POST manage.preview_settings": page({**POLICY, "sample": json.dumps({"f1": TEXT})}),
    "POST manage.put_off": page({"seconds": "3600"}, new_id(World.item)),
    "GET manage.rejected_rows": of(new_id(World.run_job)),
    "POST manage.cancel": page({"reason": REASON}, new_id(World.item)),
    "POST manage.release": page({}, new_id(lambda world: world.lease().id)),
    "POST manage.remove": page({}, new_id(World.item)),
    "POST manage.remove_view": page({"name": "some words"}),
    "POST manage.reopen": page_lease(World.finished, {"reason": REASON}),
    "GET manage.reports": get(),
    "POST manage.resume": page({}, new_queue),
    "POST manage.revive": page({}, new_id(lambda world: world.dead().id)),
    "POST manage.undo_bulk": page({"undo": "x", "search": "state=inbound"}),
    "POST manage.run_bulk": page({"move": "release", "id": MANY_IDS[:500]}),
    "POST manage.run_import": stream(new_id(World.new_job), WIDE_ROW + ROWS),
    "POST manage.save_settings": page(POLICY, new_queue),
    "POST manage.save_settings_section": page(
        {"holds": "2"}, lambda world: {**new_queue(world), "section": "time"}
    ),
    "POST manage.save_view": page({"name": "some words", "search": "find=words"}),
    "GET manage.settings": get(),
    "GET manage.settings_section": of(lambda _: {"section": "time"}),
    "POST manage.settle": page({}, new_id(World.asked)),
    "POST manage.simulate": page(SIMULATION, new_queue),
    "POST manage.stop_simulation": page({}, new_queue),
    "GET manage.try_out": get(),
    "POST manage.unassign": page({}, new_id(World.assigned)),
    "GET monitoring.metrics": get(),
    "POST people.allow_provider_link": page({}, new_name, statuses=(*OK, 404)),
    "POST people.change": page({"role": "worker", "skills": "fr de"}, new_name),
    "POST people.change_many": page({"all": "yes", "act": "team", "value": "Returns"}),
    "GET people.confirm_erase": of(new_name),
    "POST people.create_password_link": page({}, new_name),
    "POST people.create_token": page({"token_name": "some words", "password": PASSWORD}, new_name),
    "GET people.detail": of(lambda world: {"name": world.admin}),
    "POST people.disable": page({}, new_name),
    "POST people.enable": page({}, new_name),
    "POST people.erase_person": erase_person,
    "GET people.figures": get(),
    "GET people.figures_file": get(),
    "GET people.index": get(),
    "POST people.invite": invite,
    "GET people.log": get(),
    "POST people.rename_team": rename_team,
    "POST people.renew_invitation": page({}, new_id(invitation_id)),
    "POST people.reset_factor": page({}, new_name),
    "POST people.revoke_invitation": page({}, new_id(invitation_id)),
    "POST people.revoke_token": revoke_token,
    "POST people.sign_out": page({}, new_name),
    "POST people.unlink_provider": page({}, new_name, statuses=(*OK, 404)),
    "GET static": of(lambda _: {"filename": STATIC, "digest": "any"}),
    "POST webhooks.add": page({"url": "https://1.1.1.1/new", "event": "item.finished"}),
    "GET webhooks.detail": of(new_webhook),
    "POST webhooks.disable": page({}, new_webhook),
    "POST webhooks.enable": page({}, new_webhook),
    "GET webhooks.index": get(),
    "POST webhooks.remove": page({}, new_webhook),
    "POST webhooks.replay": page({"failed": "yes"}, new_webhook),
    "POST webhooks.rotate": page({}, new_webhook),
    "POST webhooks.test": page({}, new_webhook),
    "POST work.abandon": page_lease(World.lease, {"reason": REASON}),
    "POST work.ask": page_lease(World.lease, {"question": REASON}),
    "GET work.break_page": get(),
    "GET work.commands": get("q=no+such+words"),
    "GET work.day": get(),
    "POST work.draft": page_lease(World.lease, {"answer.note": TEXT}),
    "POST work.end_break": page(),
    "POST work.fail": page_lease(World.lease, {"error": REASON}),
    "POST work.finish": page_lease(World.lease, {"answer.note": TEXT, "then": "next"}),
    "GET work.home": get(),
    "GET work.lease_outcome": query_lease(World.lease),
    "GET work.live": get(is_stream=True),
    "GET work.page": get(),
    "GET work.queues_menu": get(),
    "POST work.renew": page_lease(World.lease),
    "POST work.reserve": page(),
    "POST work.respond": page({"id": "0", "response": "seen"}),
    "GET work.session_now": get(),
    "POST work.take_break": page(),
    "GET work.thread": of(new_id(World.asked)),
    "POST work.undo": page_lease(World.finished),
    "GET work.why_nothing": get(),
}
"""For each method and endpoint, except those of the first start, before there is an admin."""

MORE: list[tuple[str, Maker]] = [
    ("GET api.answers", lambda world: Input({"q": world.table.name}, "format=xlsx")),
    ("GET api.answers", get("format=csv")),
    ("POST api.import_rows", lambda world: Input({"q": world.queue.name}, body=WORKBOOK, kind=XLSX)),
    ("POST manage.import_file", upload(WORKBOOK, "file", filename="rows.xlsx", skip="yes")),
    (
        "POST manage.preview_file",
        upload(WORKBOOK, "piece", filename="rows.xlsx", name="rows.xlsx", whole="yes"),
    ),
    ("POST manage.preview_file", upload(SPARSE_ROWS, "piece", name="rows.jsonl")),
    ("POST manage.access_matches", page({"work": "some", "work.people": MANY_LINES})),
    (
        "POST manage.change_queue_access",
        page({"work": "some", "work.people": MANY_LINES, "work.teams": " x"}, statuses=(400,)),
    ),
    ("POST work.draft", large_tables),
    ("POST manage.check_file", stream(new_id(workbook_job), WORKBOOK)),
    ("POST manage.run_import", stream(new_id(workbook_job), WORKBOOK)),
]
"""Large inputs of other kinds."""
