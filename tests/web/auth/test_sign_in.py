"""Signing in and out, limits of failed sign-ins, passwords, links and tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.sessions import PER_ADDRESS, PER_NAME
from tests.support.leases import not_none
from tests.web.conftest import PASSWORD, Browser, Caller


def test_sign_in_and_out(sign_in_as: Callable[[str], Browser]) -> None:
    person = sign_in_as("worker")
    assert person.name in person.get("/account").text
    assert person.post("/logout").status_code == 303
    assert person.get("/account").location.startswith("/login")


def test_session_cookie_has_expiry_date(app: Flask, sign_in_as: Callable[[str], Browser]) -> None:
    person = sign_in_as("worker")
    person.post("/logout")
    (cookie,) = (one for one in person.sign_in().headers.getlist("Set-Cookie") if "leaseq=" in one)
    assert "; Expires=" in cookie


@pytest.mark.guard("same-answer")
def test_wrong_password_and_unknown_name_get_same_response(
    app: Flask, sign_in_as: Callable[[str], Browser]
) -> None:
    known_browser, unknown_browser = sign_in_as("worker"), Browser(app, "nobody at all")
    known_browser.post("/logout")
    responses = [one.sign_in("wrong password") for one in (known_browser, unknown_browser)]
    assert [one.status_code for one in responses] == [401, 401]
    known_text, unknown_text = (
        one.text.replace(browser.name, "")
        for one, browser in zip(responses, (known_browser, unknown_browser), strict=True)
    )
    import re

    def without_tokens(text: str) -> str:
        return re.sub(r'(value|nonce)="[^"]*"', "", text)

    assert without_tokens(known_text) == without_tokens(unknown_text)


@pytest.mark.guard("unknown-costs-a-hash")
def test_unknown_name_costs_one_password_hash(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal time is checked by the number of hashes, not by a clock."""
    tried_passwords: list[str] = []
    hasher = type(accounts._passwords._hasher)
    verify = hasher.verify

    def count(self: Any, stored_hash: Any, password: Any) -> bool:
        tried_passwords.append(password)
        return verify(self, stored_hash, password)

    monkeypatch.setattr(hasher, "verify", count)
    assert accounts.verify("nobody at all", "some password") is None
    assert tried_passwords == ["some password"]


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/q/reviews?item=1", "/q/reviews?item=1"),
        ("", "/"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("///evil.example/", "/"),
        ("/%5Cevil.example", "/%5Cevil.example"),
        ("/\\evil.example", "/"),
        ("/\tevil", "/"),
        ("javascript:alert(1)", "/"),
        ("account", "/"),
    ],
)
@pytest.mark.guard("next-backslash", "next-printable", "next-slashes")
def test_sign_in_redirects_only_to_local_next_path(
    sign_in_as: Callable[[str], Browser], target: str, location: str
) -> None:
    person = sign_in_as("worker")
    person.post("/logout")
    assert person.sign_in(next=target).location == location


@pytest.mark.guard("limit-by-name", "limit-refuses")
def test_failed_sign_ins_are_limited_by_name_and_address(sign_in_as: Callable[[str], Browser]) -> None:
    person = sign_in_as("worker")
    person.post("/logout")
    options = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.1"}}
    fields = {"name": person.name, "password": "wrong password"}
    for _ in range(PER_NAME):
        assert person.post("/login", fields, page="/login", **options).status_code == 401
    response = person.post("/login", {**fields, "password": PASSWORD}, page="/login", **options)
    assert response.status_code == 429
    assert 0 < int(response.headers["Retry-After"]) <= 300
    assert person.sign_in().status_code == 303, "from another address it still works"


@pytest.mark.guard("limit-by-address")
def test_failed_sign_ins_are_limited_by_address(app: Flask) -> None:
    options = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.2"}}
    stranger = Browser(app, "")
    token = stranger.csrf()
    codes = [
        stranger.client.post(
            "/login", data={"csrf_token": token, "name": f"n{n}", "password": "wrong"}, **options
        ).status_code
        for n in range(PER_ADDRESS + 1)
    ]
    assert codes == [401] * PER_ADDRESS + [429]


@pytest.mark.guard("password-ends-sessions")
def test_a_changed_password_ends_the_other_sessions(app: Flask, sign_in_as: Callable[[str], Browser]) -> None:
    first_browser = sign_in_as("worker")
    second_browser = Browser(app, first_browser.name)
    second_browser.sign_in()
    fields = {"password": PASSWORD, "new_password": "another long one", "again": "another long one"}
    assert first_browser.post("/account/password", fields).status_code == 303
    assert first_browser.get("/account").status_code == 200
    assert second_browser.get("/account").status_code == 303
    assert second_browser.sign_in().status_code == 401
    assert second_browser.sign_in("another long one").status_code == 303


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"password": "wrong password"}, "not your current password"),
        ({"new_password": "short", "again": "short"}, "10 to 128 characters"),
        ({"new_password": "x" * 129, "again": "x" * 129}, "10 to 128 characters"),
        ({"again": "something else"}, "differ"),
    ],
)
@pytest.mark.guard("password-length")
def test_a_refused_password_changes_nothing(
    sign_in_as: Callable[[str], Browser], app: Flask, fields: dict[str, str], message: str
) -> None:
    person = sign_in_as("worker")
    valid_fields = {"password": PASSWORD, "new_password": "another long one", "again": "another long one"}
    response = person.post("/account/password", {**valid_fields, **fields})
    assert response.status_code == 400
    assert message in response.text
    assert Browser(app, person.name).sign_in().status_code == 303


def test_sign_out_everywhere_ends_other_sessions(app: Flask, sign_in_as: Callable[[str], Browser]) -> None:
    first_browser = sign_in_as("worker")
    second_browser = Browser(app, first_browser.name)
    second_browser.sign_in()
    first_browser.post("/account/sign-out-everywhere")
    assert second_browser.get("/account").status_code == 303


@pytest.mark.guard("disabled-is-out", "disabling-ends-sessions")
def test_disabled_person_loses_session_and_token_immediately(
    app: Flask, accounts: Accounts, sign_in_as: Callable[[str], Browser]
) -> None:
    person = sign_in_as("worker")
    token = accounts.create_token(person.name, "test", by="test")
    accounts.change(person.name, by="test", disabled=True)
    for response in (person.get("/account"), person.sign_in()):
        assert (response.status_code, "Your account is disabled." in response.text) == (403, True)
    wrong = person.post("/login", {"name": person.name, "password": "not the password"})
    assert (wrong.status_code, "disabled" in wrong.text) == (401, False), "only who knows it may know"
    header = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/api/v1/queues", headers=header).status_code == 401
    accounts.change(person.name, by="test", disabled=False)
    assert person.get("/account").status_code == 303, "a session that was ended stays ended"
    assert person.sign_in().status_code == 303


def test_session_id_without_secret_is_refused(sign_in_as: Callable[[str], Browser]) -> None:
    person = sign_in_as("admin")
    with person.client.session_transaction() as session:
        session["_user_id"] = f"{person.name}:999"
    assert person.get("/account").status_code == 303


@pytest.mark.guard("token-hashed")
def test_a_token_is_shown_once_and_kept_as_a_hash(
    server: Any, app: Flask, sign_in_as: Callable[[str], Browser]
) -> None:
    import re

    person = sign_in_as("worker")
    page = person.post("/account/tokens", {"token_name": "my script", "password": PASSWORD}).text
    token = not_none(re.search(r"leaseq_[\w-]{43}", page))[0]
    assert token not in person.get("/account").text
    assert "my script" in person.get("/account").text
    stored_tokens = b"".join(
        b"".join(pair) for pair in server.redis.hgetall("leaseq:{@accounts}:tokens").items()
    )
    assert token.encode() not in stored_tokens
    header = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/api/v1/queues", headers=header).status_code == 200
    id = not_none(re.search(r"/account/tokens/(\w+)/revoke", person.get("/account").text))[1]
    assert person.post(f"/account/tokens/{id}/revoke").status_code == 303
    assert app.test_client().get("/api/v1/queues", headers=header).status_code == 401


@pytest.mark.guard("own-tokens")
def test_nobody_revokes_another_persons_token(
    accounts: Accounts, worker: Caller, sign_in_as: Callable[[str], Browser]
) -> None:
    (token,) = accounts.tokens(worker.name)
    assert sign_in_as("worker").post(f"/account/tokens/{token.id}/revoke").status_code == 400
    assert worker("GET", "/queues").status_code == 200


def test_welcome_link_sets_password_once(
    app: Flask, sign_in_as: Callable[[str], Browser], accounts: Accounts
) -> None:
    import re

    page = sign_in_as("admin").post("/people", {"name": "new one", "role": "worker", "skills": "fr de"}).text
    path = not_none(re.search(r"/welcome\?token=[\w-]+", page))[0]
    person = Browser(app, "new one")
    assert "Welcome, new one" in person.get(path).text
    token = path.partition("=")[2]
    fields = {"token": token, "new_password": PASSWORD, "again": PASSWORD}
    assert person.post("/welcome", {**fields, "again": "else"}, page=path).status_code == 400
    assert person.post("/welcome", fields, page=path).status_code == 303
    assert person.get("/account").status_code == 200
    assert person.get(path).status_code == 403
    assert accounts.get("new one").skills == ("de", "fr")


@pytest.mark.parametrize("path", ["/setup", "/setup?token=", "/setup?token=wrong", "/welcome?token=wrong"])
def test_invalid_setup_or_welcome_link_is_refused(app: Flask, path: str) -> None:
    assert app.test_client().get(path).status_code == 403


def test_account_page_states_password_length(sign_in_as: Callable[[str], Browser]) -> None:
    assert "10 to 128 characters" in sign_in_as("worker").get("/account").text


@pytest.mark.guard("disabled-has-no-session")
def test_stored_session_of_disabled_person_is_refused(accounts: Accounts, worker: Caller) -> None:
    session = accounts.sessions.start(accounts.get(worker.name))
    assert accounts.sessions.person(session)
    accounts._people.change(worker.name, disabled=True)
    assert accounts.sessions.person(session) is None
