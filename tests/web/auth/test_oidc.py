"""Sign-in through an identity provider: accepted people, and refused claims, tokens and settings."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from joserfc.jwk import RSAKey

from leaseq.webapp.settings import SettingsRefused, load_settings
from leaseq.webapp.store.accounts import Accounts
from tests.web.auth.oidc_provider import Provider, sign_in, visit_provider
from tests.web.conftest import SECRET, Browser


@pytest.mark.guard("next-after-factor", "pkce")
def test_known_person_signs_in_by_claim(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    name = provider.claims["preferred_username"]
    accounts.add(name, by="test")
    browser, response = sign_in(make_app(), "/login/provider?next=/q/reviews")
    assert (response.status_code, response.location) == (303, "/q/reviews")
    assert name in browser.get("/account").text
    (request,) = provider.requests
    assert (request["code_challenge_method"], request["scope"].split()[0]) == ("S256", "openid")
    assert len(request["state"]) >= 20
    assert len(request["nonce"]) >= 20
    assert sign_in(make_app(), "/login/provider?next=//evil.example/")[1].location == "/"
    long_path = f"/q/{secrets.token_hex(4_000)}"  # too long for the session's cookie
    assert sign_in(make_app(), f"/login/provider?next={long_path}")[1].location == "/"


def test_sign_in_works_after_many_unfinished_starts(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    """Each start is stored in the cookie, which may have 4 KB."""
    accounts.add(provider.claims["preferred_username"], by="test")
    browser = Browser(make_app(), "")
    for _ in range(30):
        response = browser.get("/login/provider")
        assert all(len(one) < 2_000 for one in response.headers.getlist("Set-Cookie"))
    tabs = [visit_provider(browser, "/login/provider") for _ in range(3)]
    assert browser.get(tabs[0]).location == "/"


def test_login_page_offers_provider_only_if_configured(app: Flask, make_app: Callable[..., Flask]) -> None:
    assert "/login/provider?next=" in Browser(make_app(), "").get("/login?next=/account").text
    assert "/login/provider" not in Browser(app, "").get("/login").text
    for path in ("/login/provider", "/login/provider/back?code=x&state=x"):
        assert Browser(app, "").get(path).status_code == 404


@pytest.mark.guard("create-where-set")
def test_unknown_person_becomes_worker_only_if_configured(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    name = provider.claims["preferred_username"]
    browser, response = sign_in(make_app())
    assert (response.status_code, "no account of that name" in response.text) == (403, True)
    assert accounts.find(name) is None
    assert browser.get("/account").status_code == 303
    assert sign_in(make_app(oidc_create=True))[1].status_code == 303
    assert accounts.get(name).role == "worker"
    assert sign_in(make_app())[1].status_code == 303


@pytest.mark.guard("disabled-by-provider")
def test_disabled_person_may_not_sign_in_through_provider(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    name = provider.claims["preferred_username"]
    accounts.add(name, by="test")
    accounts.change(name, by="test", disabled=True)
    _, response = sign_in(make_app(oidc_create=True))
    assert (response.status_code, "disabled" in response.text) == (403, True)


@pytest.mark.guard("name-linked-to-other")
def test_same_name_with_other_subject_is_refused(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    name = provider.claims["preferred_username"]
    accounts.add(name, by="test")
    assert sign_in(make_app())[1].status_code == 303
    provider.claims["sub"] = "another person"
    _, response = sign_in(make_app())
    assert (response.status_code, "somebody else" in response.text) == (403, True)
    accounts.unlink_provider(name, by="test")
    assert sign_in(make_app())[1].status_code == 303


@pytest.mark.guard("email-verified")
def test_email_claim_must_be_verified(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider, new_name: Callable[[str], str]
) -> None:
    address = f"{new_name('eve')}@example.org"
    accounts.add(address, by="test")
    app = make_app(oidc_claim="email")
    for claims in ({}, {"email_verified": False}, {"email_verified": "true"}):
        provider.faults = {"email": address, **claims}
        assert sign_in(app)[1].status_code == 403, claims
    provider.faults = {"email": address, "email_verified": True}
    assert sign_in(app)[1].status_code == 303
    provider.faults = {"email": ["a", "list"]}
    assert sign_in(app)[1].status_code == 403


@pytest.mark.parametrize(
    "fault",
    [
        {"iss": "https://evil.example"},
        {"aud": "another place"},
        {"exp": 1_700_000_000},  # a constant, because it is part of the test's name
        {"exp": None},
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"sub": None},
    ],
    ids=lambda fault: "{}-{}".format(*next(iter(fault.items()))).partition("://")[0],
)
def test_id_token_with_wrong_claim_is_refused(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider, fault: dict[str, Any]
) -> None:
    accounts.add(provider.claims["preferred_username"], by="test")
    provider.faults = fault
    browser, response = sign_in(make_app())
    assert (response.status_code, "did not work" in response.text) == (502, True)
    assert browser.get("/account").status_code == 303


@pytest.mark.guard("id-token-checked")
def test_missing_or_wrongly_signed_id_token_is_refused(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    accounts.add(provider.claims["preferred_username"], by="test")
    provider.signing_key = RSAKey.generate_key(2048, {"kid": "one"})
    assert sign_in(make_app())[1].status_code == 502
    provider.signing_key, provider.no_id_token = None, True
    assert sign_in(make_app())[1].status_code == 502


def test_callback_of_other_browser_or_used_code_is_refused(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    """The state must be that of the session that started the sign-in."""
    accounts.add(provider.claims["preferred_username"], by="test")
    app = make_app()
    own_browser, other_browser = Browser(app, ""), Browser(app, "")
    other_callback = visit_provider(other_browser)
    for callback in (other_callback, other_callback.partition("&state")[0]):
        visit_provider(own_browser)
        assert own_browser.get(callback).status_code == 502
        assert own_browser.get("/account").status_code == 303
    own_callback = visit_provider(own_browser)
    assert own_browser.get(own_callback).status_code == 303
    assert Browser(app, "").get(own_callback).status_code == 502, "a code counts once"


def test_code_without_pkce_verifier_is_refused(
    accounts: Accounts, make_app: Callable[..., Flask], provider: Provider
) -> None:
    """PKCE: first the verifier's hash is sent; the verifier itself is sent only with the code."""
    accounts.add(provider.claims["preferred_username"], by="test")
    browser = Browser(make_app(), "")
    callback = visit_provider(browser)
    for request in provider.codes.values():
        request["code_challenge"] = "of another verifier"
    assert browser.get(callback).status_code == 502


def test_provider_error_is_shown_escaped(make_app: Callable[..., Flask]) -> None:
    browser = Browser(make_app(), "")
    visit_provider(browser)
    response = browser.get("/login/provider/back?error=access_denied&error_description=<b>no</b>")
    assert (response.status_code, "access_denied" in response.text, "<b>no" in response.text) == (
        502,
        True,
        False,
    )


@pytest.mark.guard("issuer-checked")
def test_unavailable_provider_or_other_issuer_is_bad_gateway(
    make_app: Callable[..., Flask], provider: Provider
) -> None:
    unreachable_app = make_app(oidc_issuer="http://127.0.0.1:1")
    response = Browser(unreachable_app, "").get("/login/provider")
    assert (response.status_code, "answer was not valid" in response.text) == (502, True)
    renamed_app = make_app(oidc_issuer=provider.url.replace("127.0.0.1", "localhost"))
    assert Browser(renamed_app, "").get("/login/provider").status_code == 502


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"LEASEQ_OIDC_ISSUER": "https://login.example.org"}, "LEASEQ_OIDC_CLIENT_ID: is required"),
        (
            {"LEASEQ_OIDC_ISSUER": "https://login.example.org", "LEASEQ_OIDC_CLIENT_ID": "x"},
            "LEASEQ_OIDC_CLAIM: is required",
        ),
        *(
            (
                {"LEASEQ_OIDC_ISSUER": issuer, "LEASEQ_OIDC_CLIENT_ID": "x", "LEASEQ_OIDC_CLAIM": "x"},
                "LEASEQ_OIDC_ISSUER: .*https://",
            )
            for issuer in (
                "http://login.example.org",
                "http://localhost.evil.org",
                "http://127.0.0.1.evil.org",
                "http://localhost@evil.org",
                "http://[::1]@evil.org",
                "http://localhost:80@evil.org",
                "http://127.0.0.1:x",
                "https://evil.org\\@login.example.org",
                "https://login.example.org@evil.org",
                "https://login.example.org.",
                "https://login.example.org:0",
                "https://login.example.org:99999",
                "https://login.example.org?x=1",
                "https://login.example.org#x",
                "https://",
                "https:///team",
            )
        ),
    ],
)
@pytest.mark.guard("oidc-by-tls", "oidc-fields")
def test_invalid_oidc_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsRefused, match=message):
        load_settings()


@pytest.mark.parametrize(
    "issuer",
    [
        "https://login.example.org/realms/team",
        "https://login.example.org:8443/",
        "https://[2001:db8::7]",
        "http://127.0.0.1:8080/realms/team",
        "http://localhost",
        "http://[::1]:8080",
    ],
)
def test_issuer_with_https_or_on_loopback_is_accepted(monkeypatch: pytest.MonkeyPatch, issuer: str) -> None:
    for name, value in (
        ("SECRET_KEY", SECRET),
        ("OIDC_ISSUER", issuer),
        ("OIDC_CLIENT_ID", "x"),
        ("OIDC_CLAIM", "email"),
    ):
        monkeypatch.setenv(f"LEASEQ_{name}", value)
    assert load_settings().oidc_issuer == issuer
