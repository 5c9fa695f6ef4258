"""Security headers, set on every response."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g

from leaseq.webapp.context import state

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # for anything but pages
}
_STRICT_TRANSPORT = {"Strict-Transport-Security": "max-age=31536000"}
_NOT_KEPT = {"Cache-Control": "no-store"}


class SecurityHeaders:
    """Middleware that adds the security headers that a response does not have yet.

    It works on the finished list of headers: Flask's ``Headers`` would take a tenth of a REST call.
    """

    def __init__(self, app: WSGIApplication, static_path: str, *, https: bool) -> None:
        self._app = app
        self._static_path = static_path
        headers = _ALWAYS | (_STRICT_TRANSPORT if https else {})
        self._cacheable_headers = _by_name(headers)
        self._uncached_headers = _by_name(headers | _NOT_KEPT)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_static = environ.get("PATH_INFO", "").startswith(self._static_path)
        needed_headers = self._cacheable_headers if is_static else self._uncached_headers

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            present_names = {name.lower() for name, _ in headers}
            if status.startswith("304"):  # the client keeps the policy that belongs to the body it has
                present_names.add("content-security-policy")
            missing_headers = [header for name, header in needed_headers if name not in present_names]
            return start_response(status, headers + missing_headers, *error)

        return self._app(environ, start)


def _by_name(headers: dict[str, str]) -> list[tuple[str, tuple[str, str]]]:
    """Each header after its name in lower case."""
    return [(header[0].lower(), header) for header in headers.items()]


def nonce() -> str:
    """The nonce of this page's scripts."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)
    return str(g.nonce)


def init_headers(app: Flask, *, https: bool) -> None:
    """Set the headers on every response. Call this after wrapping the app in middleware that may respond
    itself."""
    app.jinja_env.globals["nonce"] = nonce
    app.after_request(with_policy)
    app.wsgi_app = SecurityHeaders(app.wsgi_app, f"{app.static_url_path}/", https=https)  # type: ignore[method-assign]


def with_policy(response: Response) -> Response:
    """The response to the current request; a page with its Content-Security-Policy. One that the client has
    already (304) keeps its own, with the nonce of its scripts."""
    if response.mimetype == "text/html" and response.status_code != 304:
        response.headers["Content-Security-Policy"] = policy()
    return response


def policy() -> str:
    """The Content-Security-Policy of a page: only this origin, and scripts only with this page's nonce."""
    media = " ".join(("'self'", *state().settings.media_origins))
    rules = {
        "default-src": "'none'",
        "script-src": f"'nonce-{nonce()}'",
        "style-src": "'self'",
        "img-src": f"{media} data:",
        "media-src": media,
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
