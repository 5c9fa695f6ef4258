"""Erasing and exporting a person: on their page, by REST and on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

import leaseq
from leaseq.cli import main
from leaseq.webapp.services import people
from leaseq.webapp.store import base
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from tests.support.leases import take
from tests.web.api_calls import assert_problem
from tests.web.conftest import Browser, Caller

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def settle_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't wait for caches to expire: no other process runs."""
    monkeypatch.setattr(people, "SETTLE_SECONDS", 0)


@pytest.fixture
def ann(accounts: Accounts, new_name: Callable[[str], str], queue: leaseq.Queue) -> str:
    """A person who answered an item and holds another one."""
    name = accounts.add(new_name("ann-ä"), by="test").name
    accounts.create_token(name, "a program", by="test")
    queue.enqueue_many([{"n": 1}, {"n": 2}])
    queue.finish(take(queue, name), {"v": 1})
    take(queue, name)
    return name


@pytest.fixture
def chief(sign_in_as: Callable[[str], Browser]) -> Browser:
    return sign_in_as("admin")


@pytest.fixture
def run(server: Any) -> Run:
    return lambda *arguments, input=None: CliRunner().invoke(
        main, [*arguments, "--redis", server.url], input=input
    )


def is_erased(queue: leaseq.Queue, accounts: Accounts, name: str) -> bool:
    (answer,) = queue.answers()
    return (
        queue.mine(name) == []
        and accounts.find(name) is None
        and bool(re.fullmatch("erased-[0-9a-f]{12}", answer.person))
    )


def test_erase_page_lists_data_and_requires_name(
    chief: Browser, ann: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    admin_browser, path = chief, f"/people/{ann}/erase"
    queue.configure(title="The letters")
    assert f'href="{path.replace("ä", "%C3%A4")}"' in admin_browser.get(f"/people/{ann}").text
    page = admin_browser.get(path).text
    for text in (
        "and 1 API token",
        "on 1 item, which goes",
        f"name, {ann}, to erase",
        "The letters, since",
    ):
        assert text in page
    for name in ("", ann.upper(), admin_browser.name):
        error_response = admin_browser.post(path, {"name": name})
        assert error_response.status_code == 400
        assert 'aria-invalid="true"' in error_response.text
    assert not is_erased(queue, accounts, ann)
    response = admin_browser.post(path, {"name": f" {ann} "})
    assert (response.status_code, is_erased(queue, accounts, ann)) == (200, True)
    (answer,) = queue.answers()
    for text in (f"{ann} is erased.", "2 items were changed", "1 lease ended", answer.person):
        assert text in response.text
    assert admin_browser.get(path).status_code == 404
    entry = accounts.log.page(limit=1, kind="person").entries[0]
    assert (entry.by, entry.what, entry.about) == (admin_browser.name, "person.erased", answer.person)


def test_interrupted_erasure_is_finished_on_page(
    chief: Browser, ann: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    accounts.begin_erasure(ann, by="test")
    assert f"The erasure of {ann} was interrupted." in chief.get("/people").text
    path = f"/people/{ann}/erase"
    assert "This erasure was interrupted." in chief.get(path).text
    response = chief.post("/people", {"name": ann})
    assert (response.status_code, "is being erased" in response.text) == (400, True)
    assert ann not in [invitation.name for invitation in accounts.invitations()], (
        "its link no longer works once the erasure is finished"
    )
    assert chief.post(path, {"name": ann}).status_code == 200
    assert is_erased(queue, accounts, ann)
    assert f"The erasure of {ann} was interrupted." not in chief.get("/people").text


@pytest.mark.parametrize("role", ["worker", "manager"])
def test_only_admins_erase_people(
    sign_in_as: Callable[[str], Browser],
    make_caller: Callable[[str], Caller],
    ann: str,
    accounts: Accounts,
    role: str,
) -> None:
    browser = sign_in_as(role)
    for response in (
        browser.get(f"/people/{ann}/erase"),
        browser.post(f"/people/{ann}/erase", {"name": ann}),
    ):
        assert response.status_code == 403
    assert_problem(make_caller(role)("DELETE", f"/people/{ann}"), 403, "forbidden")
    assert accounts.find(ann)


def test_rest_exports_person(admin: Caller, ann: str, queue: leaseq.Queue) -> None:
    response = admin("GET", f"/people/{ann}/export")
    assert (response.status_code, response.mimetype) == (200, "application/json")
    assert response.headers["Content-Disposition"] == 'attachment; filename="person.json"'
    document = json.loads(response.text)
    assert (document["name"], document["account"]["role"]) == (ann, "worker")
    (answered_item,) = (item for item in document["items"] if item["answers"])
    assert (answered_item["queue"], answered_item["answers"][0]["result"]) == (queue.name, {"v": 1})
    assert admin("GET", "/people/nobody-of-this-name/export").json["account"] is None


def test_rest_erases_person(admin: Caller, ann: str, queue: leaseq.Queue, accounts: Accounts) -> None:
    response = admin("DELETE", f"/people/{ann}")
    assert response.status_code == 204
    assert is_erased(queue, accounts, ann)
    (answer,) = queue.answers()
    assert answer.person == response.headers["X-Leaseq-Erased-As"]
    assert_problem(admin("DELETE", f"/people/{ann}"), 404, "not-found")
    assert_problem(admin("DELETE", "/people/" + "x" * 65), 404, "not-found")
    assert admin("PUT", f"/people/{ann}", json={}).status_code == 201


def test_erasure_includes_unwritten_activity(
    app: Flask, admin: Caller, ann: str, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Including what this process has not written yet."""
    monkeypatch.setattr(base, "GATHERED_SECONDS", 30)
    activity: Activity = app.extensions["leaseq"].activity
    activity.record(ann, queue.name, "finished", id="a", token=1)
    assert admin("DELETE", f"/people/{ann}").status_code == 204
    assert not activity.today(ann, queue.name)


def test_rest_finishes_interrupted_erasure(
    admin: Caller, ann: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    accounts.begin_erasure(ann, by="test")
    assert_problem(admin("GET", f"/people/{ann}"), 404, "not-found")
    response = admin("PUT", f"/people/{ann}", json={})
    assert_problem(response, 400, "invalid")
    assert response.json["field"] == "name"
    assert admin("DELETE", f"/people/{ann}").status_code == 204
    assert is_erased(queue, accounts, ann)


def test_erasure_reports_unreadable_queue(
    admin: Caller, chief: Browser, ann: str, unreadable_queue: leaseq.Queue
) -> None:
    assert_problem(admin("DELETE", f"/people/{ann}"), 503, "queue-unreadable")
    response = chief.post(f"/people/{ann}/erase", {"name": ann})
    assert response.status_code == 503
    assert f"a newer version of leaseq wrote {unreadable_queue.name}" in response.text
    assert '<input id="name" name="name"' in response.text, "the form is there to try again"


def test_command_line_erases_person_only_with_yes(
    run: Run, ann: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    first_result = run("person", "erase", ann)
    assert first_result.exit_code == 2
    assert "1 lease that they hold, and their drafts." in first_result.stderr
    assert f"takes the place of theirs in 2 items of '{queue.name}'" in first_result.stderr
    assert "Add --yes" in first_result.stderr
    assert not is_erased(queue, accounts, ann)
    second_result = run("person", "erase", ann, "--yes", "--json")
    assert is_erased(queue, accounts, ann)
    document = json.loads(second_result.stdout)
    (answer,) = queue.answers()
    assert (document["pseudonym"], document["items"], document["leases"]) == (answer.person, 2, 1)
    (erased_queue,) = [entry for entry in document["queues"] if entry["queue"] == queue.name]
    assert erased_queue["journal_since"].startswith("20")
    for name in (ann, "x" * 65):
        error_result = run("person", "erase", name, "--yes")
        assert (error_result.exit_code, error_result.stdout) == (2 if len(name) > 64 else 1, "")


def test_command_line_finishes_interrupted_erasure(
    run: Run, ann: str, queue: leaseq.Queue, accounts: Accounts
) -> None:
    accounts.begin_erasure(ann, by="test")
    result = run("person", "erase", ann)
    assert result.exit_code == 0
    assert f"'{ann}' is erased: 1 lease ended, 2 items changed" in result.stdout
    assert f"  {queue.name}  20" in result.stdout
    assert is_erased(queue, accounts, ann)


def test_command_line_erases_person_without_account(run: Run, queue: leaseq.Queue) -> None:
    queue.enqueue({})
    queue.finish(take(queue, "a program"), 1)
    result = run("person", "erase", "a program", "--yes")
    assert (result.exit_code, "no account; 0 leases" in result.stderr) == (0, True)
    (answer,) = queue.answers()
    assert answer.person.startswith("erased-")


def test_command_line_exports_person(run: Run, ann: str, tmp_path: Path) -> None:
    result = run("person", "export", ann)
    document = json.loads(result.stdout)
    assert (document["name"], document["account"]["role"], len(document["items"])) == (ann, "worker", 2)
    file = tmp_path / "ann.json"
    assert run("person", "export", ann, "--to", str(file)).stdout == ""
    assert json.loads(file.read_text())["items"] == document["items"]
    assert file.stat().st_mode & 0o077 == 0
    unknown_result = run("person", "export", "nobody")
    assert json.loads(unknown_result.stdout)["account"] is None
    assert "there is no account 'nobody'" in unknown_result.stderr
    assert run("person", "export", "x" * 65).exit_code == 2
    assert run("person", "export", ann, "--to", str(tmp_path / "no" / "file")).exit_code == 1
