"""People: who there is, invitations, and who is disabled."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

import leaseq
from leaseq import Invalid
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.leases import held_by_each
from leaseq.webapp.store.accounts.people import NoSuchPerson
from tests.support.taking import not_none, take
from tests.web.conftest import PASSWORD, Browser, Caller
from tests.web.item_lists import rows


def joined(app: Flask, link: str, **fields: str) -> Any:
    token = link.partition("=")[2]
    page = f"/welcome?token={token}"
    browser = Browser(app, fields.get("name", ""))
    form = {"token": token, "new_password": PASSWORD, "again": PASSWORD, **fields}
    return browser, browser.post("/welcome", form, page=page)


def link_in(page: str) -> str:
    return not_none(re.search(r"/welcome\?token=[\w-]+", page))[0]


def test_an_invitation_gives_its_role_and_skills_to_who_uses_it_once(
    app: Flask, accounts: Accounts, visitor: Callable[[str], Browser], new_name: Callable[[str], str]
) -> None:
    boss, name = visitor("admin"), new_name("newcomer")
    page = boss.post("/people", {"role": "manager", "skills": "fr de", "days": "2"}).text
    link = link_in(page)
    listed = next(one for one in accounts.invitations() if one.by == boss.name)
    assert (listed.role, listed.skills, listed.name) == ("manager", ("de", "fr"), None)
    assert (listed.expires_at - listed.created_at).days == 2
    assert link not in boss.get("/people").text
    assert boss.name in boss.get("/people").text
    for wrong in ({"name": ""}, {"name": boss.name}, {"name": name, "new_password": "x", "again": "x"}):
        assert joined(app, link, **wrong)[1].status_code == 400, wrong
    browser, answer = joined(app, link, name=name)
    assert (answer.status_code, browser.get("/manage").status_code) == (303, 200)
    assert (accounts.get(name).role, accounts.get(name).skills) == ("manager", ("de", "fr"))
    assert browser.get(link).status_code == 403
    assert all(one.by != boss.name for one in accounts.invitations())


def test_a_name_that_the_inviter_chose_is_not_changed(
    app: Flask, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    name = new_name("chosen")
    token = accounts.invite(by="test", name=name)
    with pytest.raises(Invalid, match="already invited"):
        accounts.invite(by="test", name=name)
    joined(app, f"/welcome?token={token}", name="another name")
    assert accounts.find("another name") is None
    assert accounts.get(name).role == "worker"
    with pytest.raises(Invalid, match="already"):
        accounts.invite(by="test", name=name)


def test_an_invitation_that_was_taken_back_or_is_too_old_opens_nothing(
    app: Flask,
    server: Any,
    accounts: Accounts,
    visitor: Callable[[str], Browser],
    new_name: Callable[[str], str],
) -> None:
    boss, token = visitor("admin"), accounts.invite(by="test", name=new_name("gone"))
    (id,) = (one.id for one in accounts.invitations() if one == accounts.invitation(token))
    assert boss.post(f"/people/invitations/{id}/revoke").status_code == 303
    assert Browser(app, "").get(f"/welcome?token={token}").status_code == 403
    assert boss.post(f"/people/invitations/{id}/revoke").status_code == 400
    old = accounts.invite(by="test", name=new_name("old"))
    hashed = next(
        key
        for key in server.redis.hkeys("leaseq:{@accounts}:invitations")
        if not_none(accounts.invitation(old)).id == key.decode()[:12]
    )
    server.redis.pexpire(b"leaseq:{@accounts}:invitation:" + hashed, 0)
    assert accounts.invitation(old) is None
    with pytest.raises(Invalid, match="used already or has expired"):
        accounts.accept(old, "", PASSWORD)


@pytest.mark.parametrize(
    "fields",
    [{"role": "boss"}, {"skills": "Not Good"}, {"days": "0"}, {"days": "31"}, {"days": "x"}, {"name": "."}],
)
def test_an_invitation_that_can_not_be(visitor: Callable[[str], Browser], fields: dict[str, str]) -> None:
    answer = visitor("admin").post("/people", {"role": "worker", "name": "somebody", **fields})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert f"{fields.get('name', 'somebody')}</textarea>" in answer.text, "what was typed is still there"


def test_a_change_that_can_not_be_is_told_on_the_persons_page(
    visitor: Callable[[str], Browser], accounts: Accounts
) -> None:
    boss, ann = visitor("admin"), visitor("worker")
    typed = {"role": "manager", "skills": "Not Good", "team": "Night"}
    answer = boss.post(f"/people/{ann.name}/change", typed)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert f'action="/people/{ann.name}/change"' in answer.text, "to correct it there"
    for kept in ('value="manager" selected', 'value="Not Good"', 'value="Night"'):
        assert kept in answer.text, "what was typed is still there"
    assert accounts.get(ann.name).skills == ()


@pytest.mark.parametrize("act", ["change", "disable", "tokens"])
def test_of_nobody_there_is_no_page_and_nothing_to_change(
    accounts: Accounts, visitor: Callable[[str], Browser], new_name: Callable[[str], str], act: str
) -> None:
    boss, name = visitor("admin"), new_name("nobody")
    answer = boss.post(f"/people/{name}/{act}", {"role": "worker", "scope": "work"}, page="/people")
    assert answer.status_code == 404
    with pytest.raises(NoSuchPerson, match=f"there is no person named '{name}'"):
        accounts.get(name)


def test_who_is_disabled_gives_back_what_they_hold_and_nobody_else_does(
    asking: leaseq.Queue, visitor: Callable[[str], Browser]
) -> None:
    boss, ann, bob = visitor("admin"), visitor("worker"), visitor("worker")
    asking.configure(answers=2, holds=2)
    leases = [take(asking, ann.name), take(asking, ann.name)]
    for_bob = asking.reserve(bob.name)
    asking.save_draft(leases[0], {"note": "half done"})
    page = boss.get(f"/people/{ann.name}").text
    assert "The 2 items that they hold go to somebody else" in page
    assert f"/manage/{asking.name}/items/{leases[0].id}" in page
    assert boss.post(f"/people/{ann.name}/disable").status_code == 303
    assert "The 2 items that they held are waiting again." in boss.get(f"/people/{ann.name}").text
    assert asking.mine(ann.name) == []
    assert asking.mine(bob.name) == [for_bob]
    assert asking.stats().counters["released"] == 2
    assert boss.post(f"/people/{ann.name}/enable").status_code == 303
    again = [take(asking, ann.name), take(asking, ann.name)]
    assert {"note": "half done"} in [lease.draft for lease in again], "and what they typed is kept"


@pytest.mark.parametrize("by", ["rest", "command"])
def test_disabling_returns_leases_in_every_way_to_disable(
    server: Any, asking: leaseq.Queue, worker: Caller, admin: Caller, by: str
) -> None:
    asking.reserve(worker.name)
    if by == "rest":
        assert admin("PUT", f"/people/{worker.name}", json={"disabled": True}).status_code == 200
    else:
        from click.testing import CliRunner

        from leaseq.cli import main

        result = CliRunner().invoke(main, ["user", "disable", worker.name, "--redis", server.url])
        assert result.exit_code == 0
    assert asking.mine(worker.name) == []


def test_held_counts_are_right_past_what_one_look_shows(
    server: Any, asking: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, new_name: Callable[[str], str]
) -> None:
    from leaseq.webapp.store.accounts import leases

    asking.configure(answers=2, holds=2)
    ann, bob = new_name("ann"), new_name("bob")
    for name in (ann, ann, bob):
        asking.reserve(name)

    def counts() -> dict[str, int]:
        return {name: len(held) for name, held in held_by_each(server.client, [ann, bob]).items()}

    assert counts() == {ann: 2, bob: 1}
    monkeypatch.setattr(leases, "_LOOK", 1)
    assert counts() == {ann: 2, bob: 1}


def test_people_are_found_with_what_they_hold_and_did_today(
    app: Flask, accounts: Accounts, asking: leaseq.Queue, visitor: Callable[[str], Browser]
) -> None:
    boss, ann = visitor("admin"), visitor("worker")
    accounts.change(ann.name, by="test", skills=["rare-skill"])
    asking.reserve(ann.name)
    days = app.extensions["leaseq"].activity
    for number in range(3):
        days.record(ann.name, asking.name, "finished", id=f"i{number}", token=number, active_ms=30_000)
    days.record(ann.name, asking.name, "finished", id="by REST", token=8, held_ms=70_000)
    days.record(ann.name, asking.name, "gave_back", id="i9", token=9)
    shown = rows(boss.get("/people?q=rare-skill").text)
    line = next(line for line in shown.split("\n") if ann.name in line)
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[2].startswith(f"My parcel is not here in {asking.name} for 0 s"), (
        "what they hold, and for how long"
    )
    assert cells[3:7] == ["4", "4", "30 s", "1"], "in the last hour, today, each and given back"
    assert boss.name not in shown
    assert ann.name in boss.get(f"/people?role=worker&state=active&q={ann.name.upper()}").text
    for other in ("role=manager", "state=disabled"):
        assert f'value="{ann.name}" form' not in boss.get(f"/people?q={ann.name}&{other}").text
    own = boss.get(f"/people/{ann.name}").text
    assert 'class="bar"' in own
    assert "4 at most" in own
    line = next(line for line in rows(own).split("\n") if asking.name in line)
    assert [cell.strip() for cell in line.split("|")][1:7] == ["4", "30 s", "1", "–", "2 min", "70 s"]


def test_people_come_page_by_page(
    accounts: Accounts,
    visitor: Callable[[str], Browser],
    new_name: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from leaseq.webapp.people import live

    monkeypatch.setattr(live, "PAGE", 2)
    boss, group = visitor("admin"), new_name("page")
    names = [f"{group} {letter}" for letter in "aBc"]
    for name in names:
        accounts.add(name, by="test")
    first = boss.get(f"/people?q={quote(group)}").text
    assert names[2] not in rows(first)
    following = not_none(re.search(r'href="(/people\?[^"]*from=[^"]+)"', first))[1].replace("&amp;", "&")
    assert [name in rows(boss.get(following).text) for name in names] == [False, False, True]


def test_an_admin_signs_somebody_out(visitor: Callable[[str], Browser]) -> None:
    boss, ann = visitor("admin"), visitor("worker")
    assert boss.post(f"/people/{ann.name}/sign-out").status_code == 303
    assert ann.get("/account").status_code == 303
