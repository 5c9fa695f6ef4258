"""A small OpenID Connect provider on loopback: real HTTP, its own keys, and faults on demand."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from flask import Flask
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.test import TestResponse

from leaseq.webapp import create_app
from leaseq.webapp.settings import Settings
from tests.web.conftest import CHEAP_PASSWORDS, SECRET, Browser

CLIENT, CLIENT_SECRET = "leaseq-here", "the provider's secret"


@dataclass
class Provider:
    url: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    claims: dict[str, Any] = field(default_factory=dict)  # of the person who signs in there next
    faults: dict[str, Any] = field(default_factory=dict)  # claims of the ID token to replace
    signing_key: RSAKey | None = None  # if not the published one
    no_id_token: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    requests: list[dict[str, str]] = field(default_factory=list)

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, request: dict[str, str]) -> str:
        """Sign the person in there; return the URL that they are sent back to."""
        self.requests.append(request)
        assert request["client_id"] == CLIENT
        assert request["response_type"] == "code"
        code = secrets.token_urlsafe(8)
        self.codes[code] = request
        return f"{request['redirect_uri']}?{urlencode({'code': code, 'state': request['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        expected = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        request = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if authorization != f"Basic {expected}":
            return 401, {"error": "invalid_client"}
        if request is None or request["redirect_uri"] != form.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        if (
            request.get("code_challenge_method") != "S256"
            or challenge.decode().rstrip("=") != request["code_challenge"]
        ):
            return 400, {"error": "invalid_grant", "error_description": "the verifier is not the one"}
        now = int(time.time())
        base = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": request.get("nonce")}
        claims = {**base, **self.claims, **self.faults}
        key = self.signing_key or self.key
        id_token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
        token = {} if self.no_id_token else {"id_token": id_token}
        return 200, {
            "access_token": secrets.token_urlsafe(8),
            "token_type": "Bearer",
            "expires_in": 300,
            **token,
        }


@contextlib.contextmanager
def provider_running() -> Iterator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, urlsplit(self.path).query
            if path == "/.well-known/openid-configuration":
                self._send(200, provider.metadata())
            elif path == "/keys":
                self._send(200, {"keys": [provider.key.as_dict(private=False)]})
            elif path == "/authorize":
                self.send_response(302)
                request = {name: values[0] for name, values in parse_qs(query).items()}
                self.send_header("Location", provider.authorize(request))
                self.send_header("Content-Length", "0")
                self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._send(*provider.token(form, self.headers.get("Authorization", "")))

        def _send(self, status: int, value: dict[str, Any]) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def visit_provider(browser: Browser, path: str = "/login/provider") -> str:
    """Visit the provider, which sends the browser back; return the query that it sends."""
    response = browser.get(path)
    assert response.status_code == 302, response.text
    with urllib.request.build_opener(_NoRedirect).open(response.location) as redirect:
        location: str = redirect.headers["Location"]
    return location.removeprefix("http://localhost")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None

    def http_error_302(self, req: Any, fp: Any, *args: Any) -> Any:
        return fp


def sign_in(app: Flask, path: str = "/login/provider") -> tuple[Browser, TestResponse]:
    browser = Browser(app, "")
    return browser, browser.get(visit_provider(browser, path))


@pytest.fixture(scope="module")
def running_provider() -> Iterator[Provider]:
    with provider_running() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: Provider, new_name: Callable[[str], str]) -> Provider:
    """A provider with one person."""
    name = new_name("eve")
    running_provider.claims = {"sub": f"sub of {name}", "preferred_username": name}
    running_provider.faults, running_provider.signing_key, running_provider.no_id_token = {}, None, False
    running_provider.requests.clear()
    return running_provider


@pytest.fixture
def make_app(server: Any, provider: Provider) -> Callable[..., Flask]:
    def make(**options: Any) -> Flask:
        settings = {
            "redis_url": server.url,
            "secret_key": SECRET,
            "oidc_issuer": provider.url,
            "oidc_client_id": CLIENT,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_claim": "preferred_username",
        }
        return create_app(Settings(**{**settings, **options}), passwords=CHEAP_PASSWORDS)

    return make
