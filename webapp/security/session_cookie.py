"""The session cookie: Flask's, with less work for requests that do not use it."""

from __future__ import annotations

from functools import cache

from flask import Flask, Request, Response
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import URLSafeTimedSerializer


class SessionCookie(SecureCookieSessionInterface):
    """Flask's session cookie, with a serializer that is created once, since the app's keys don't change."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if "HTTP_COOKIE" not in request.environ:  # from a program with a token: there is nothing to parse
            return self.session_class()
        return super().open_session(app, request)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if session.accessed or session.modified:  # if it was not accessed, it has not changed
            super().save_session(app, session, response)

    @cache  # noqa: B019 - one for each app, for the app's lifetime
    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        return super().get_signing_serializer(app)
