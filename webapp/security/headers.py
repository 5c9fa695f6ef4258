"""Security headers, set on every response."""

from __future__ import annotations

import secrets

from flask import Flask, Response, g, request

from leaseq.webapp.context import state

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",  # guard: nosniff
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def nonce() -> str:
    """The one that scripts of this page carry."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)  # guard: nonce-new
    return str(g.nonce)


def init_headers(app: Flask) -> None:
    app.jinja_env.globals["nonce"] = nonce
    app.after_request(secured)


def secured(response: Response) -> Response:
    """The answer to the present request, with all headers that any has."""
    for name, value in _ALWAYS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Content-Security-Policy", policy())  # guard: csp-sent
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "no-store")
    if state().settings.secure_cookies:  # guard: hsts
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    return response


def policy() -> str:
    """Nothing but our own, and scripts only with this answer's nonce."""
    media = " ".join(("'self'", *state().settings.media_origins))  # guard: csp-media
    rules = {
        "default-src": "'none'",
        "script-src": f"'nonce-{nonce()}'",  # guard: csp-nonce
        "style-src": "'self'",
        "img-src": f"{media} data:",
        "media-src": media,
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",  # guard: frame-ancestors
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
