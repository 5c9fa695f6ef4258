"""REST for accounts: one person, how they sign in, invitations, and the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import assert_problem
from tests.web.conftest import PASSWORD, Browser, Caller


def test_admin_reads_person_and_unknown_person_is_not_found(admin: Caller, worker: Caller) -> None:
    person = admin("GET", f"/people/{worker.name}").json
    assert (person["name"], person["role"], person["disabled"]) == (worker.name, "worker", False)
    assert_problem(admin("GET", "/people/nobody"), 404, "not-found")


def test_password_link_is_usable_once(app: Any, admin: Caller, worker: Caller, accounts: Accounts) -> None:
    response = admin("POST", f"/people/{worker.name}/password-link", json={})
    assert response.status_code == 201
    assert app.test_client().get(response.json["link"]).status_code == 200
    token = response.json["link"].rpartition("=")[2]
    accounts.use_link(token, PASSWORD)
    assert accounts.password_link_owner(token) is None
    assert_problem(admin("POST", "/people/nobody/password-link", json={}), 404, "not-found")


def test_admin_ends_sessions_and_resets_second_factor(
    admin: Caller, sign_in_as: Callable[[str], Browser], accounts: Accounts
) -> None:
    person = sign_in_as("worker")
    assert admin("DELETE", f"/people/{person.name}/sessions").status_code == 204
    assert person.get("/account").status_code == 303
    assert admin("DELETE", f"/people/{person.name}/factor").status_code == 204, "there was none"
    assert_problem(admin("DELETE", "/people/nobody/factor"), 404, "not-found")
    assert [one.what for one in accounts.log.latest(2)].count("sign-in.sessions-ended") == 1


def test_an_invitation_is_made_listed_and_revoked(app: Any, admin: Caller, new_name: Any) -> None:
    name = new_name("invited")
    response = admin("POST", "/invitations", json={"name": name, "skills": ["fr"], "days": 2})
    assert (response.status_code, response.json["name"], response.json["role"]) == (201, name, "worker")
    page = app.test_client().get(response.json["link"])
    assert name in page.text
    invitations = admin("GET", "/invitations?limit=1000").json["invitations"]
    assert [one for one in invitations if one["id"] == response.json["id"]] == [
        {key: value for key, value in response.json.items() if key != "link"}
    ]
    assert admin("DELETE", f"/invitations/{response.json['id']}").status_code == 204
    assert name not in app.test_client().get(response.json["link"]).text
    assert_problem(admin("DELETE", f"/invitations/{response.json['id']}"), 404, "not-found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " x"}, "name"),
        ({"name": ""}, "name"),
        ({"role": "boss"}, "role"),
        ({"days": 0}, "days"),
        ({"days": 31}, "days"),
        ({"skills": ["NO"]}, "skills"),
        ({"team": "x" * 65}, "team"),
        ({"x": 1}, "x"),
    ],
)
def test_invalid_invitation_is_refused(admin: Caller, body: dict[str, Any], field: str) -> None:
    assert assert_problem(admin("POST", "/invitations", json=body), 400, "invalid")["field"].startswith(field)


def test_audit_log_is_paged_latest_first(admin: Caller, worker: Caller) -> None:
    for team in ("a", "b", "c"):
        admin("PUT", f"/people/{worker.name}", json={"team": team})
    path = f"/log?person={worker.name}&kind=person&limit=2"
    first = admin("GET", path)
    assert [one["detail"] for one in first.json["entries"]] == ["team: b → c", "team: a → b"]
    assert {one["by"] for one in first.json["entries"]} == {admin.name}
    next_path = first.headers["Link"].partition(">")[0].removeprefix("<http://localhost/api/v1")
    assert admin("GET", next_path).json["entries"][0]["detail"] == "team: none → a"
    for cursor in ("0-0", "0-0s"):
        assert admin("GET", f"/log?after={cursor}").json == {"entries": [], "after": None}
    assert admin("GET", "/log?after=00-0").json == {"entries": [], "after": None}
    assert assert_problem(admin("GET", "/log?after=x"), 400, "invalid")["field"] == "after"
    assert assert_problem(admin("GET", "/log?person=%C2%9B"), 400, "invalid")["field"] == "person"
    assert_problem(worker("GET", "/log"), 403, "forbidden")
