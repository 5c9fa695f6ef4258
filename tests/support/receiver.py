"""A real HTTP server that receives webhooks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from standardwebhooks import Webhook

import leaseq
from leaseq import webhooks
from tests.support.leases import not_none

Responder = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verify(self, secret: str) -> Any:
        """Return the body, after the library has verified its signature and that it is not old."""
        return Webhook(secret).verify(self.body, self.headers)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that do not read to the end: that is not an error of the test."""


@dataclass
class Receiver:
    """Answers 204, or the next of ``responses``: a status, a status with headers and a body, or a function
    that writes the answer itself."""

    responses: deque[int | tuple[int, dict[str, str], bytes] | Responder] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> Self:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.requests.append(Request(self.path, headers, body))
                receiver.respond(self)

            def do_GET(self) -> None:
                receiver.requests.append(Request(self.path, {}, b""))
                self.send_error(405)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def port(self) -> int:
        return int(self.server.server_port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        response = self.responses.popleft() if self.responses else 204
        if callable(response):
            response(handler)
            return
        status, headers, body = response if isinstance(response, tuple) else (response, {}, b"")
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)


def send_test(deliverer: webhooks.Deliverer, endpoint: str) -> webhooks.Delivery:
    """Send a test to an endpoint by this deliverer, and return the delivery."""
    id = deliverer.deliveries.add_test(endpoint)
    deliverer.deliver(endpoint, not_none(deliverer.reserve(endpoint)))
    return deliverer.deliveries.get(id)


@contextmanager
def sending(client: leaseq.Client, allow: str = "127.0.0.0/8") -> Iterator[None]:
    """Send webhooks meanwhile, as `leaseq webhook run` does."""
    stop = threading.Event()
    thread = threading.Thread(target=webhooks.run, args=(client, webhooks.networks(allow), stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def open_receiver(redis: Any) -> Iterator[Receiver]:
    """A receiver on a server without endpoints; what the test creates is removed at the end."""
    forget_webhooks(redis)
    with Receiver() as receiver:
        yield receiver
    forget_webhooks(redis)


def forget_webhooks(redis: Any) -> None:
    """Remove all endpoints and deliveries. The user of ``redis`` may read and write all keys."""
    for pattern in ("leaseq:{@webhooks}:*", f"leaseq:{{{webhooks.QUEUE}}}:*"):
        for key in redis.scan_iter(match=pattern):
            redis.delete(key)
