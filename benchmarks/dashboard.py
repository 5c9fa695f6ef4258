"""`./dev bench dashboard`: how long managers' pages take with 1,000,000 items and 200 people.

Requests go to two web processes of gunicorn on a kept connection. For the first one, a process reads all
figures; the later ones are what a manager sees who stays on the page.
"""

from __future__ import annotations

import re
import secrets
import sys
import tempfile
import time
from contextlib import closing
from statistics import median

import click
import requests

import leaseq
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.web.gunicorn_server import serve_app

QUEUE, MANAGER = "big", "the manager"
PAGES = (
    f"/manage/{QUEUE}",
    "/manage",
    "/people",
    "/figures",
    "/figures?and=day",
    f"/manage/{QUEUE}/items?state=inbound",
    f"/manage/{QUEUE}/answers",
)
LIMIT_MS = 300  # milliseconds for a page, including the first request


@click.command()
@click.option("--items", default=1_000_000, show_default=True, type=click.IntRange(1_000, 10_000_000))
@click.option("--people", default=200, show_default=True, type=click.IntRange(1, 2_000))
def dashboard(items: int, people: int) -> None:
    """Print the milliseconds of each page; exit with 1 if one exceeds its limit."""
    password = secrets.token_urlsafe(12)
    with (
        tempfile.TemporaryDirectory(prefix="leaseq-") as folder,
        EmbeddedServer(folder, fsync="no") as server,
    ):
        with closing(leaseq.connect(server.url)) as client:
            fill(client, items, people, password)
        with serve_app(server.url, secrets.token_urlsafe(48)) as url, requests.Session() as browser:
            sign_in(browser, url, password)
            slow_pages = [page for page in PAGES if measure(browser, url, page) > LIMIT_MS]
    sys.exit(1 if slow_pages else 0)


def fill(client: leaseq.Client, items: int, people: int, password: str) -> None:
    """Fill the queue: each person has finished two items, given one back, reported one, and holds one."""
    click.echo(f".. {items:,} items, {people:,} people", err=True)
    accounts = Accounts(client)
    accounts.add(MANAGER, by="bench", role="admin", password=password)
    queue = leaseq.Queue(client, QUEUE)
    queue.configure(title="A big queue", lease_seconds=3_600)
    queue.enqueue_many({"text": f"Message {n}: my parcel is not here."} for n in range(items))
    for n in range(people):
        person = accounts.add(f"person {n}", by="bench").name
        for _ in range(2):
            queue.finish(reserve_one(queue, person), {"answer": "refund"})
        queue.abandon(reserve_one(queue, person), "not in a language that I read")
        queue.fail(reserve_one(queue, person), "the picture is missing")
        reserve_one(queue, person)


def reserve_one(queue: leaseq.Queue, person: str) -> leaseq.Lease:
    lease = queue.reserve(person)
    if lease is None:
        raise click.ClickException(f"there is no item for {person}")
    return lease


def sign_in(browser: requests.Session, url: str, password: str) -> None:
    token = re.findall(r'name="csrf_token" value="([^"]+)"', browser.get(f"{url}/login").text)[0]
    form = {"name": MANAGER, "password": password, "csrf_token": token}
    browser.post(f"{url}/login", data=form).raise_for_status()


def measure(browser: requests.Session, url: str, page: str) -> float:
    """Print and return the milliseconds of the slowest of ten requests, usually the first."""
    times = []
    for _ in range(10):
        started_at = time.perf_counter()
        browser.get(f"{url}{page}").raise_for_status()
        times.append((time.perf_counter() - started_at) * 1_000)
    summary = f"first {times[0]:>5.0f}, median {median(times):>5.0f}, longest {max(times):>5.0f} ms"
    click.echo(f"{page:<36} {summary}; at most {LIMIT_MS}")
    return max(times)


if __name__ == "__main__":
    dashboard()
