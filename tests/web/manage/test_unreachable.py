"""Items that nobody who may work on the queue can take: counted, raised as an alert, and freed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from leaseq.webapp.store.samples import Sampler, Samples
from tests.support.leases import take
from tests.web.conftest import Browser, Caller
from tests.web.elements import attribute, attributes, elements, texts
from tests.web.manage.import_calls import chosen_fields, look


@pytest.fixture
def access(app: Flask) -> QueueAccess:
    """The app's own, which uses a change immediately."""
    access: QueueAccess = app.extensions["leaseq"].access
    return access


def figures(browser: Browser, queue: leaseq.Queue) -> dict[str, Any]:
    response = browser.get(f"/manage/{queue.name}/live", headers={"Accept": "application/json"})
    content: dict[str, Any] = response.json
    return content


def test_items_for_somebody_who_cannot_work_and_for_missing_skills_are_counted(
    manager: Caller,
    manager_browser: Browser,
    worker: Caller,
    make_caller: Callable[[str], Caller],
    queue: leaseq.Queue,
    accounts: Accounts,
    access: QueueAccess,
) -> None:
    outsider, disabled = make_caller("worker"), make_caller("worker")
    skill = f"skill-{queue.name[-20:].lower()}"
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ("out", "off", "gone", "fine", "plain"))
    queue.enqueue_many(leaseq.NewItem({}, requires=(skill,)) for _ in range(3))
    accounts.change(disabled.name, by="test", disabled=True)
    queue.assign("out", outsider.name)
    queue.assign("off", disabled.name)
    queue.assign("gone", "nobody of that name")
    queue.assign("fine", worker.name)
    access.set(queue.name, Access(work=Group(people=(worker.name,)), manage=None))
    assert manager("GET", f"/queues/{queue.name}/stats").json["unreachable"] == 6
    shown = figures(manager_browser, queue)
    assert shown["unreachable_count"] == 6
    assert {(row["why"], row["whom"], row["count"]) for row in shown["unreachable"]} == {
        ("access", outsider.name, 1),
        ("disabled", disabled.name, 1),
        ("unknown", "nobody of that name", 1),
        ("skills", skill, 3),
        ("offline", worker.name, 1),
    }
    page = manager_browser.get(f"/manage/{queue.name}").text
    assert f"person={quote_plus(disabled.name)}&amp;outcome=assigned" in page
    assert f"skill={skill}" in page
    accounts.change(worker.name, by="test", skills=[skill, "another"])
    assert manager("GET", f"/queues/{queue.name}/stats").json["unreachable"] == 3


def test_queue_without_people_or_skills_has_nothing_unreachable(
    manager: Caller, manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.enqueue({})
    assert manager("GET", f"/queues/{queue.name}/stats").json["unreachable"] == 0
    assert figures(manager_browser, queue)["unreachable"] == []


def test_card_leads_to_the_question_that_frees_what_waits_for_one_person(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure()
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in "abc")
    for id in "ab":
        queue.assign(id, "long gone")
    path = f"/manage/{queue.name}"
    (form,) = elements(
        manager_browser.get(path).text, f".problem form[action='{path}/bulk']:has([value=unassign])"
    )
    fields = {name: attribute(form, f"[name={name}]", "value") for name in ("move", "which", "search")}
    question = manager_browser.post(f"{path}/bulk", fields).text
    assert texts(question, "main h1") == ["Let anybody have 2 items"]
    manager_browser.post(f"{path}/bulk/do", fields)
    assert {take(queue, "ann").id, take(queue, "bob").id, take(queue, "cyd").id} == set("abc")


def test_what_nobody_online_can_take_is_told_apart(
    manager_browser: Browser,
    make_caller: Callable[[str], Caller],
    queue: leaseq.Queue,
    accounts: Accounts,
    app: Flask,
) -> None:
    away, here = make_caller("worker").name, make_caller("worker").name
    skills = {name: f"{name[-12:]}-{queue.name[-12:]}".lower() for name in (away, here)}
    for name, skill in skills.items():
        accounts.change(name, by="test", skills=[skill])
    queue.enqueue_many(leaseq.NewItem({}, requires=(skill,)) for skill in skills.values())
    for name in (away, here):
        queue.enqueue({}, id=name)
        queue.assign(name, name)
    call = app.extensions["leaseq"].open_calls.begin("waits", here)
    shown = figures(manager_browser, queue)
    assert {(row["why"], row["whom"], row["count"]) for row in shown["unreachable"]} == {
        ("absent", skills[away], 1),
        ("offline", away, 1),
    }
    assert (shown["unreachable_count"], shown["problem_count"]) == (0, 2)
    assert [row["person"] for row in shown["online"]] == [here]
    call.end()


def test_sampler_raises_and_resolves_the_alert(
    server: Any, queue: leaseq.Queue, accounts: Accounts, access: QueueAccess
) -> None:
    queue.configure(alerts=("unreachable>0",))
    queue.enqueue({}, id="a")
    queue.assign("a", "long gone")
    now = [1_900_000_000.0 + secrets.randbelow(10**8)]
    samples = Samples(server.client, clock=lambda: now[0])
    sampler = Sampler(server.client, samples, accounts, access)
    sampler.sample()
    assert [(one.name, one.value) for one in queue.alerts()] == [("unreachable", 1)]
    assert queue.stats().unreachable == 1
    queue.unassign("a")
    now[0] += 60
    sampler.sample()
    assert (queue.alerts(), queue.stats().unreachable) == ((), 0)


def test_item_is_opened_to_anybody_on_its_page(
    manager_browser: Browser, queue: leaseq.Queue, worker: Caller
) -> None:
    queue.enqueue({}, id="a")
    base = f"/manage/{queue.name}/items/a"
    assert "/unassign" not in manager_browser.get(base).text
    queue.assign("a", worker.name)
    assert elements(manager_browser.get(base).text, f"form[action='{base}/unassign']")
    assert manager_browser.post(f"{base}/unassign", {}).location == base
    assert queue.get("a").assigned_to == ()
    assert f"not only {worker.name}" in manager_browser.get(base).text


def test_selected_items_are_opened_to_anybody(
    manager_browser: Browser, queue: leaseq.Queue, worker: Caller
) -> None:
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in "abc")
    for id in "ab":
        queue.assign(id, worker.name)
    list_path = f"/manage/{queue.name}/items?state=inbound"
    assert elements(manager_browser.get(list_path).text, "[name=move][value=unassign]")
    fields = {"move": "unassign", "search": "state=inbound", "id": ["a", "c"]}
    page = manager_browser.post(f"/manage/{queue.name}/bulk/do", fields).text
    assert "Anybody can get 1 item now" in page
    assert [queue.get(id).assigned_to for id in "abc"] == [(), (worker.name,), ()]


@pytest.fixture
def skill(queue: leaseq.Queue, worker: Caller, accounts: Accounts) -> str:
    """A skill that one person has."""
    name = f"skill-{queue.name[-20:].lower()}"
    accounts.change(worker.name, by="test", skills=[name])
    return name


def test_skill_of_nobody_is_asked_about_before_an_item_is_added(
    manager_browser: Browser, queue: leaseq.Queue, skill: str, accounts: Accounts, worker: Caller
) -> None:
    queue.configure()
    path = f"/manage/{queue.name}/items"
    fields = {"json": '"typed words"', "requires": f"{skill} {skill}-x"}
    page = manager_browser.post(path, fields)
    assert (page.status_code, queue.stats().inbound) == (200, 0)
    assert f"“{skill}-x”" in page.text, "the one that nobody has"
    assert elements(page.text, "[name=confirmed]")
    assert "typed words" in page.text
    assert attribute(page.text, "[name=requires]", "value") == f"{skill} {skill}-x"
    assert manager_browser.post(path, {**fields, "confirmed": "yes"}).status_code == 303
    assert manager_browser.post(path, {**fields, "requires": skill}).status_code == 303
    assert queue.stats().inbound == 2
    accounts.change(worker.name, by="test", disabled=True)
    assert manager_browser.post(path, {**fields, "requires": skill}).status_code == 200


def test_skill_of_nobody_is_asked_about_before_an_item_is_changed(
    manager_browser: Browser, queue: leaseq.Queue, skill: str
) -> None:
    queue.configure(max_attempts=1)
    queue.enqueue({}, id="a")
    queue.fail(take(queue, "ann"), "torn")
    path = f"/manage/{queue.name}/items/a"
    fields = {"requires": f"{skill}-x", "priority": "7", "then": "revive"}
    page = manager_browser.post(f"{path}/change", fields, page=path)
    assert (page.status_code, queue.get("a").requires, queue.get("a").state) == (200, (), "dead")
    for name, value in (("requires", f"{skill}-x"), ("priority", "7"), ("confirmed", "revive")):
        assert value in attributes(page.text, f"[name={name}]", "value")
    saved = manager_browser.post(f"{path}/change", {**fields, "then": "", "confirmed": "revive"}, page=path)
    assert saved.status_code == 303
    assert (queue.get("a").requires, queue.get("a").state) == ((f"{skill}-x",), "inbound")
    saved = manager_browser.post(f"{path}/change", {"requires": skill}, page=path)
    assert (saved.status_code, queue.get("a").requires) == (303, (skill,))


@pytest.mark.parametrize("is_new_queue", [False, True])
def test_import_says_that_nobody_has_a_skill(
    manager_browser: Browser, queue: leaseq.Queue, skill: str, is_new_queue: bool
) -> None:
    queue.configure()
    base = "/new-queue" if is_new_queue else f"/manage/{queue.name}/import"
    data = f"id,requires\na,{skill}\nb,{skill}-x\n".encode()
    fields = {**chosen_fields(look(manager_browser, base, data)), "requires": "requires"}
    preview = look(manager_browser, base, data, **fields)
    assert f": {skill}-x." in preview.text
    assert 'id="import-button"' in preview.text, "it is a remark"
    plan = manager_browser.post(f"{base}/jobs", {"name": "rows.csv", "requires": "requires"}, page=base)
    check = manager_browser.client.post(
        plan.json["check"],
        data=data,
        content_type="application/octet-stream",
        headers={"X-CSRFToken": manager_browser.csrf(base)},
    )
    assert f": {skill}-x." in check.text
    known = data.replace(b"-x", b"")
    assert f": {skill}." not in look(manager_browser, base, known, **fields).text
