"""Cross-origin resource sharing: REST for pages of the origins in the settings.

They authenticate with a token. The session cookie is removed from their requests, so they can't use anybody's
sign-in here, and ``Access-Control-Allow-Credentials`` is never sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
REQUEST_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"
EXPOSED_HEADERS = (
    "Allow, Content-Disposition, ETag, Idempotency-Replayed, Link, Location, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Leaseq-Erased-As, "
    "X-Leaseq-Reason, X-Leaseq-Unassigned, X-Leaseq-Unmatched, X-Request-Id"
)
MAX_AGE_SECONDS = "600"


class Cors:
    """Middleware that answers preflights, and marks what pages of these origins may read."""

    def __init__(self, app: WSGIApplication, origins: Iterable[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("PATH_INFO", "").startswith("/api/"):
            return self._app(environ, start_response)
        origin = environ.get("HTTP_ORIGIN", "")
        allowed_origin = origin if origin in self._origins else None
        if allowed_origin is None:
            return self._app(environ, _with_headers({}, start_response))
        environ.pop("HTTP_COOKIE", None)
        headers = {"Access-Control-Allow-Origin": allowed_origin}
        if environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ:
            headers |= {
                "Access-Control-Allow-Methods": METHODS,
                "Access-Control-Allow-Headers": REQUEST_HEADERS,
                "Access-Control-Max-Age": MAX_AGE_SECONDS,
            }
            _with_headers(headers, start_response)("204 No Content", [])
            return []
        headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
        return self._app(environ, _with_headers(headers, start_response))


def _with_headers(extra_headers: dict[str, str], start_response: StartResponse) -> StartResponse:
    """Add headers and ``Vary: Origin``, also to requests without an origin, since a cache may reuse the
    response for one with an origin."""

    def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
        vary_values = [value for name, value in headers if name.lower() == "vary" and value != "Origin"]
        other_headers = [header for header in headers if header[0].lower() != "vary"]
        vary = ("Vary", ", ".join([*vary_values, "Origin"]))
        return start_response(status, [*other_headers, vary, *extra_headers.items()], *error)

    return start
