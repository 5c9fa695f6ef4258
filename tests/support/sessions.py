"""Sessions of people, without the pages of a sign-in, which take longer than most tests."""

from __future__ import annotations

from flask import Flask
from flask_wtf.csrf import generate_csrf

from leaseq.webapp.auth import session
from leaseq.webapp.store.accounts.model import Person


def start_session(app: Flask, person: Person) -> tuple[dict[str, str], str]:
    """Do what the last request of a sign-in does. The session's cookies, and its CSRF token."""
    with app.test_request_context("/login", environ_overrides={"REMOTE_ADDR": "127.0.0.1"}):
        session.sign_in(person, "password")
        csrf_token = generate_csrf()
        response = app.process_response(app.make_response(""))
    cookies = (cookie.partition(";")[0].split("=", 1) for cookie in response.headers.get_all("Set-Cookie"))
    return dict(cookies), csrf_token
