"""The WSGI middleware of all requests: proxies, other origins, id, slot, headers, access log, metrics."""

from __future__ import annotations

import logging
import os
import random
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wsgi import ClosingIterator

from leaseq import Client, LeaseqError
from leaseq.doctor import note_undeclared_proxy
from leaseq.webapp.serving.logs import ACCESS, REQUEST_ID
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.serving.shutdown import has_begun

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

HOLDS_SLOT = "leaseq.slot"
"""Whether the request of this WSGI environment holds a slot."""


class RequestSlots:
    """The slots of one web process. A released slot goes to the first request in line: no later request can
    take it."""

    def __init__(self, count: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._free_count = count
        self._line: deque[threading.Event] = deque()
        self._clock = clock

    def acquire(self, *, at_front: bool = False) -> float:
        """Wait for a slot, after all others in line or before them. Returns the seconds waited."""
        with self._lock:
            if self._free_count:
                self._free_count -= 1
                return 0.0
            turn = threading.Event()
            if at_front:
                self._line.appendleft(turn)
            else:
                self._line.append(turn)
        start = self._clock()
        try:
            turn.wait()
        except BaseException:  # this request ends here
            with self._lock:
                has_slot = turn.is_set()
                if not has_slot:
                    self._line.remove(turn)
            if has_slot:
                self.release()
            raise
        return self._clock() - start

    def release(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._free_count += 1

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a slot, for the pieces of a long response, which are produced after its request was
        handled."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    @contextmanager
    def release_temporarily(self) -> Iterator[None]:
        """Release this request's slot. It continues with the next free one."""
        self.release()
        try:
            yield
        finally:
            self.acquire(at_front=True)


SHARE = 20


class QueueTimeLimit:
    """Decides which requests have waited too long.

    A short burst is served: the limit is ``seconds``. If requests have been queueing that long already, more
    arrive than can be served, and a long queue only delays all of them: the limit drops to a twentieth.
    (After CoDel, RFC 8289, as in "Fail at Scale", ACM Queue 13/8, which has 100 and 5 ms.)
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._taken_at = 0.0  # when the last request got its slot
        self._empty_at = 0.0  # the last time that no request was waiting

    def is_over(self, wait: float, now: float) -> bool:
        """Whether a request that gets its slot now has waited too long. Call this for each request, in
        order."""
        arrival = now - wait
        with self._lock:
            if arrival >= self._taken_at:  # all earlier requests had already got their slots
                self._empty_at = arrival
            self._taken_at = now
            queueing_time = now - self._empty_at
        return 0 < (self._seconds / SHARE if queueing_time > self._seconds else self._seconds) < wait


DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's name for it
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class HttpMetrics:
    """Counts requests by route. All unknown paths count as one, and so do all unknown methods."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts = Counter(
            "leaseq_http_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "leaseq_http_request_seconds",
            "From a request's head to the last byte of its response, including any wait for an item.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self._registry,
        )

        self._wait_seconds = Histogram(
            "leaseq_http_wait_seconds",
            "From reading a request's head to the start of its handling.",
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._shed_counter = Counter(
            "leaseq_http_shed",
            "Requests that waited too long in line, and were refused.",
            registry=self._registry,
        )
        # By method, route and status, since a lookup by labels is slow.
        self._cache: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe_wait(self, seconds: float) -> None:
        self._wait_seconds.observe(seconds)

    def count_shed(self) -> None:
        self._shed_counter.inc()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "other"
        metrics = self._cache.get((method, route, status))
        if metrics is None:
            counter = self._counts.labels(method, route, str(status))
            metrics = self._cache[method, route, status] = counter, self._seconds.labels(method, route)
        metrics[0].inc()
        metrics[1].observe(seconds)

    def all_processes(self) -> CollectorRegistry:
        """The metrics of all processes that share the directory."""
        if DIRECTORY not in os.environ:
            return self._registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry


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


HEADER = "X-Request-Id"
STATIC_PATH = "/static/"
NO_ROUTE = "none"  # all unknown paths are one route in the metrics
ROUTE, PERSON, VIA_PROXY = "leaseq.route", "leaseq.person", "leaseq.via_proxy"
"""What the app and the middleware for proxies note in a request's WSGI environment."""
RETRY_AFTER = (2, 6)  # seconds: not all come back together
SHED_ROUTE = "shed"
NEVER_SHED = frozenset({"/healthz", "/readyz", "/metrics"})  # for operators: these wait for no slot
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

access_log = logging.getLogger(ACCESS)


class Middleware:
    """Gives each request an id and a slot, and 503 to one that waited too long for it; adds the security
    headers that a response does not have yet; measures the request until its last byte, and logs it.

    ``respond`` returns the response to a refused request, which may be sent again in the given number of
    seconds. Headers are added to the finished list: Flask's ``Headers`` would take a tenth of a REST call.
    """

    def __init__(
        self,
        app: Flask,
        slots: RequestSlots,
        metrics: HttpMetrics,
        respond: Callable[[int], Response],
        *,
        max_queue_seconds: float,
        https: bool,
    ) -> None:
        self._app, self._inner, self._respond = app, app.wsgi_app, respond
        self._slots, self._metrics = slots, metrics
        self._limit = QueueTimeLimit(max_queue_seconds)
        headers = _ALWAYS | (_STRICT_TRANSPORT if https else {})
        self._cacheable_headers = _by_name(headers)
        self._uncached_headers = _by_name(headers | _NOT_KEPT)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_time = time.perf_counter()
        path: str = environ.get("PATH_INFO", "")
        id = environ[REQUEST_ID] = request_id(environ)
        needed_headers = self._cacheable_headers if path.startswith(STATIC_PATH) else self._uncached_headers
        statuses: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[..., Any]:
            statuses.append(status)
            present_names = {name.lower() for name, _ in headers}
            if status.startswith("304"):  # the client keeps the policy that belongs to the body it has
                present_names.add("content-security-policy")
            missing_headers = [header for name, header in needed_headers if name not in present_names]
            return start_response(status, [*headers, *missing_headers, (HEADER, id)], exc_info)

        def log_request() -> None:
            self._note(environ, int(statuses[-1][:3]) if statuses else 500, time.perf_counter() - start_time)

        return ClosingIterator(self._in_slot(environ, start, path), log_request)

    def _in_slot(self, environ: WSGIEnvironment, start: StartResponse, path: str) -> Iterable[bytes]:
        if path in NEVER_SHED:
            return self._inner(environ, start)
        seconds = self._slots.acquire()
        environ[HOLDS_SLOT] = True
        try:
            self._metrics.observe_wait(seconds)
            is_over = self._limit.is_over(seconds, time.monotonic())
            if not is_over or has_begun() or path.startswith(STATIC_PATH):  # for pages that were served
                return self._inner(environ, start)
            return self._refuse(environ, start)
        finally:
            environ[HOLDS_SLOT] = False
            self._slots.release()

    def _refuse(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        self._metrics.count_shed()
        with self._app.request_context(environ):
            response = self._respond(random.randint(*RETRY_AFTER))  # noqa: S311 - nothing secret
        environ[ROUTE] = SHED_ROUTE
        return response(environ, start)

    def _note(self, environ: WSGIEnvironment, status: int, seconds: float) -> None:
        route, method = environ.get(ROUTE, NO_ROUTE), environ["REQUEST_METHOD"]
        self._metrics.count(route, method, status, seconds)
        if access_log.isEnabledFor(logging.INFO):
            # Without the query, since links that set a password contain their secret there.
            path = environ.get("PATH_INFO", "").encode("latin-1", "replace").decode("utf-8", "replace")
            fields = {
                "method": method,
                "path": path,
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 1),
                "person": environ.get(PERSON),
                "address": environ.get("REMOTE_ADDR"),
                "request_id": environ[REQUEST_ID],
            }
            # Not log.info, which first searches for the line of code that called it.
            access_log.handle(
                access_log.makeRecord(
                    ACCESS, logging.INFO, "", 0, "answered", (), None, extra={"fields": fields}
                )
            )


def in_api() -> bool:
    """Whether this path is for programs: they send tokens, and get problems as JSON."""
    path = request.path
    return path.startswith("/api/") or path == "/metrics"


def request_id(environ: WSGIEnvironment) -> str:
    """The request's id from our own proxy, else a new one: clients must not choose what is in the log."""
    header = environ.get("HTTP_X_REQUEST_ID", "")
    if VIA_PROXY in environ and _ID.fullmatch(header):
        return str(header)
    return secrets.token_hex(8)


def _by_name(headers: dict[str, str]) -> list[tuple[str, tuple[str, str]]]:
    """Each header after its name in lower case."""
    return [(header[0].lower(), header) for header in headers.items()]


PROBE_PATHS = frozenset({"/healthz", "/readyz"})
"""Paths that load balancers and monitors request at the process's own address, with any Host."""

_PORT = re.compile(r":[0-9]*\Z")


def init_hosts(app: Flask, allowed_hosts: Sequence[str]) -> None:
    """Refuse requests for other hosts; ``.example.org`` means that one and all its subdomains.

    Flask's TRUSTED_HOSTS refuses capital letters, IPv6 addresses and probes, and can't show an error page.
    """
    names = tuple(name.lower() for name in allowed_hosts)

    def check() -> None:
        host = _PORT.sub("", request.host).lower()
        if request.path not in PROBE_PATHS and not any(_matches(host, name) for name in names):
            raise Problem.of(400, "invalid", "host", field="Host")

    if names:
        app.before_request(check)


def _matches(host: str, name: str) -> bool:
    return host in (name, name.removeprefix(".")) or (name.startswith(".") and host.endswith(name))


Network = IPv4Network | IPv6Network

_FORWARDED = {  # by their names in an environ
    f"HTTP_{name.upper().replace('-', '_')}": name
    for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded")
}
_NOTE_SECONDS = 3_600  # seconds; `leaseq doctor` forgets after two hours

log = logging.getLogger(__name__)


def _is_private(address: str | None) -> bool:
    """Whether the address is of this machine or a private network. A unix socket has none."""
    try:
        return ip_address(address or "127.0.0.1").is_private
    except ValueError:
        return False


class Proxies:
    """Middleware that trusts the X-Forwarded-* headers of ``proxy_count`` proxies in ``networks``. Other
    headers are ignored; if the settings may lack a proxy that sends them, `leaseq doctor` gets a note.

    Any client can send such a header, but one with an address in a private network rarely does.
    """

    def __init__(
        self, app: WSGIApplication, client: Client, proxy_count: int, networks: Sequence[Network]
    ) -> None:
        self._app, self._client = app, client
        self._networks = networks if proxy_count else ()
        self._proxy_fix = ProxyFix(app, x_for=proxy_count, x_proto=proxy_count, x_host=proxy_count)
        self._noted_at: float | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        address = environ.get("REMOTE_ADDR", "")
        if self._networks and self._is_trusted(address):
            environ[VIA_PROXY] = True
            return self._proxy_fix(environ, start_response)
        headers = _FORWARDED.keys() & environ.keys()
        if headers and environ.get("PATH_INFO") not in PROBE_PATHS and _is_private(address):
            self._note(address or "a unix socket", _FORWARDED[min(headers)])
        return self._app(environ, start_response)

    def _note(self, address: str, header: str) -> None:
        now = time.monotonic()
        if self._noted_at is not None and now - self._noted_at < _NOTE_SECONDS:
            return
        self._noted_at = now
        log.warning(
            "requests come through a proxy at %s that is not declared (it sends %s): everybody seems to "
            "have its address. Set LEASEQ_TRUSTED_PROXIES and LEASEQ_PROXY_ADDRESSES",
            address,
            header,
        )
        try:
            note_undeclared_proxy(self._client, address, header)
        except LeaseqError:
            self._noted_at = None  # the next request tries again

    def _is_trusted(self, address: str) -> bool:
        """Whether to trust an address. A unix socket has none: its clients are on this machine."""
        try:
            ip = ip_address(address or "127.0.0.1")
        except ValueError:
            return False
        return any(ip in network for network in self._networks)


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
