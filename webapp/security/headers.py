"""The Content-Security-Policy of pages; webapp/serving/middleware.py gives others a stricter one."""

from __future__ import annotations

import secrets

from flask import Response, after_this_request, g

from leaseq.webapp.context import state


def nonce() -> str:
    """The nonce of this page's scripts. Whoever asks for it makes a page, whose response gets the policy."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)
        after_this_request(with_policy)
    return str(g.nonce)


def allow_sending_files() -> None:
    """Let this page send files to where they are kept, if that is another origin."""
    files = state().files
    if files is not None and files.storage.origin:
        g.file_origin = files.storage.origin


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
        "frame-src": " ".join(state().settings.media_origins) or "'none'",
        "connect-src": " ".join(("'self'", *filter(None, (g.get("file_origin"),)))),
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
