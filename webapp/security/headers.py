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
    """The nonce of this page's scripts."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)  # guard: nonce-new
    return str(g.nonce)


def init_headers(app: Flask) -> None:
    app.jinja_env.globals["nonce"] = nonce
    app.after_request(secured)


def secured(response: Response) -> Response:
    """The response to the current request, with all security headers."""
    for name, value in _ALWAYS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Content-Security-Policy", policy())  # guard: csp-sent
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "no-store")
    if state().settings.secure_cookies:  # guard: hsts
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    return response


def policy() -> str:
    """Content-Security-Policy: only our own origin, and scripts only with this response's nonce."""
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
