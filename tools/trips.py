"""`./dev trips`: how many product files one request crosses, by a profiler around it on a warm app.

A trip is one request, or one delivery of a webhook. Each is made twice before it is counted, so that imports
and caches are warm. A file counts if one of its functions is called.
"""

from __future__ import annotations

import io
import json
import re
import secrets
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from flask.testing import FlaskClient

import leaseq
from leaseq import webhooks
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp import create_app
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Passwords
from tests.support.receiver import open_receiver
from tests.web.elements import form_fields

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"rest": 22, "page": 34, "settings": 26, "import": 34, "webhook": 26}
"""The most files of each trip: to be lowered, not raised."""

POLICY_READS = 2
"""How often a save of the settings may read the policy."""

PASSWORD = "correct horse battery"
FORM = {
    "show": [{"field": "text", "kind": "text"}],
    "ask": {"type": "object", "properties": {"about": {"enum": ["delivery", "refund"]}}},
}
WARM_UP = 2

Trip = Counter[str]
"""How often each file was entered from another one, by its path."""


@contextmanager
def profiled() -> Iterator[tuple[Trip, Counter[str]]]:
    """Count the entries of product files, and the calls of product functions by their qualified name."""
    entries: Trip = Counter()
    calls: Counter[str] = Counter()
    resolved: dict[str, str | None] = {}

    def product_file(frame: FrameType | None) -> str | None:
        if frame is None:
            return None
        name = frame.f_code.co_filename
        if name not in resolved:
            path = Path(name).resolve()
            parts = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
            resolved[name] = "/".join(parts) if parts and parts[0] in ("leaseq", "webapp") else None
        return resolved[name]

    def on_event(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or (file := product_file(frame)) is None:
            return
        calls[frame.f_code.co_qualname] += 1
        if file != product_file(frame.f_back):
            entries[file] += 1

    threading.setprofile(on_event)
    sys.setprofile(on_event)
    try:
        yield entries, calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


class Traveller:
    """An app on a server, and the person whose requests are counted."""

    def __init__(self, url: str) -> None:
        passwords = Passwords(PasswordHasher.from_parameters(CHEAPEST))
        self.app = create_app(Settings(redis_url=url, secret_key=secrets.token_hex()), passwords=passwords)
        accounts = self.app.extensions[EXTENSION].accounts
        accounts.add("ann", by="trips", role="manager", password=PASSWORD)
        self.headers = {"Authorization": f"Bearer {accounts.create_token('ann', 'trips', by='trips')}"}
        self.rest: FlaskClient = self.app.test_client()
        self.pages: FlaskClient = self.app.test_client()
        self.post("/login", {"name": "ann", "password": PASSWORD}, page="/login")
        self.client = leaseq.connect(url)
        self.queue = leaseq.Queue(self.client, "trips")
        self.queue.configure(title="Trips", form=FORM, holds=9)

    def csrf(self, page: str) -> str:
        match = re.search(r'name="csrf_token" value="([^"]+)"', self.pages.get(page).text)
        assert match, page
        return match[1]

    def post(self, path: str, fields: dict[str, Any], *, page: str) -> None:
        response = self.pages.post(path, data={"csrf_token": self.csrf(page), **fields})
        assert response.status_code in (200, 303), response.text

    def lease(self) -> leaseq.Lease:
        self.queue.enqueue_many([{"text": "a"}, {"text": "b"}])
        lease = self.queue.reserve("ann")
        assert lease
        return lease

    # Each prepares its request and returns the call that is counted.

    def rest_finish(self) -> Callable[[], Any]:
        lease = self.lease()
        path = f"/api/v1/queues/trips/items/{lease.id}/finish"
        # Encoded here: the app's own encoder is not part of the request.
        body = json.dumps({"token": lease.token, "result": {"about": "refund"}})

        def call() -> None:
            response = self.rest.post(path, data=body, content_type="application/json", headers=self.headers)
            assert response.status_code == 200, response.text

        return call

    def page_finish(self) -> Callable[[], Any]:
        lease = self.lease()
        fields = {"csrf_token": self.csrf("/q/trips"), "token": str(lease.token), "about": "refund"}
        path = f"/q/trips/items/{lease.id}/finish"

        def call() -> None:
            response = self.pages.post(path, data={**fields, "then": "next"})
            assert response.status_code == 303, response.text

        return call

    def settings(self) -> Callable[[], Any]:
        page = self.pages.get("/manage/trips/settings/time").text
        fields = {**form_fields(page, "settings"), "renewals": str(secrets.randbelow(1_000) + 1)}

        def call() -> None:
            response = self.pages.post("/manage/trips/settings/time", data=fields)
            assert response.status_code == 303, response.text

        return call

    def import_csv(self) -> Callable[[], Any]:
        rows = "".join(f"row {secrets.token_hex(4)}\n" for _ in range(3))
        token = self.csrf("/manage/trips/import")

        def call() -> None:
            file = (io.BytesIO(f"text\n{rows}".encode()), "rows.csv")
            data = {"csrf_token": token, "file": file}
            response = self.pages.post("/manage/trips/import", data=data)
            assert response.status_code == 303, response.text

        return call


def trips(traveller: Traveller) -> dict[str, Callable[[], Callable[[], Any]]]:
    return {
        "rest": traveller.rest_finish,
        "page": traveller.page_finish,
        "settings": traveller.settings,
        "import": traveller.import_csv,
    }


def deliveries(traveller: Traveller, url: str) -> Callable[[], Callable[[], Any]]:
    """The trip of one delivery: the feeder reads the event, and the deliverer sends it."""
    networks = webhooks.networks("127.0.0.1")
    endpoint = webhooks.Endpoints(traveller.client).add(
        url, allow=networks, events=["item.finished"], queues=["trips"], by="ann"
    )
    feeder = webhooks.Feeder(traveller.client)
    deliverer = webhooks.Deliverer(traveller.client, networks)

    def prepare() -> Callable[[], Any]:
        lease = traveller.lease()
        traveller.queue.finish(lease, {"about": "refund"})

        def call() -> None:
            feeder.feed()
            delivery = deliverer.reserve(endpoint.endpoint.id)
            assert delivery
            deliverer.deliver(endpoint.endpoint.id, delivery)

        return call

    return prepare


def counted(prepare: Callable[[], Callable[[], Any]]) -> tuple[Trip, Counter[str]]:
    for _ in range(WARM_UP):
        prepare()()
    call = prepare()
    with profiled() as counts:
        call()
    return counts


def measure() -> dict[str, tuple[Trip, Counter[str]]]:
    """Make each trip once on an app of its own; return what it entered and called."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        traveller = Traveller(server.url)
        with open_receiver(traveller.client.redis) as receiver:
            prepared = {**trips(traveller), "webhook": deliveries(traveller, receiver.url)}
            return {name: counted(prepare) for name, prepare in prepared.items()}


def policy_reads(calls: Counter[str]) -> int:
    return calls["from_server"]


@click.command()
@click.option("--files", is_flag=True, help="Each file once, with how often it is entered from another.")
@click.argument("names", nargs=-1, type=click.Choice([*LIMITS]))
def main(files: bool, names: tuple[str, ...]) -> None:
    """Print how many product files one request crosses: a line a trip."""
    for name, (entries, calls) in measure().items():
        if names and name not in names:
            continue
        reads = policy_reads(calls)
        print(f"{name} {len(entries)}" + (f" ({reads} reads of the policy)" if name == "settings" else ""))
        if files:
            for file, count in entries.items():
                print(f"  {count:5} {file}")


if __name__ == "__main__":
    main()
