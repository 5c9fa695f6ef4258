"""docs/how-to/deploy.md names only existing settings and options, and the nginx example works."""

from __future__ import annotations

import http.client
import re
import secrets
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import pytest

import leaseq
from leaseq.cli import main
from leaseq.webapp.commands.serve import serve
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from tests.support.waiting import TIMEOUT, eventually
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn
from tests.web.nginx_server import HAS_NGINX, connect, run_nginx

DOCS = Path(__file__).parents[3] / "docs"
FILES = sorted(
    path
    for folder in ("nginx", "systemd", "container")
    for path in (DOCS / folder).iterdir()
    if path.is_file()
)
SECRET = "a secret for tests that is long enough"


def setting_names() -> set[str]:
    fields = {f"LEASEQ_{name.upper()}" for name in Settings.model_fields}
    return fields | {str(option.envvar) for option in serve.params if isinstance(option, click.Option)}


@pytest.mark.parametrize("path", [*FILES, DOCS / "how-to/deploy.md"], ids=lambda path: path.name)
def test_examples_name_only_existing_settings_and_options(path: Path) -> None:
    text = path.read_text()
    assert set(re.findall(r"\bLEASEQ_[A-Z_]+\b", text)) <= setting_names()
    context = click.Context(main)
    for line in re.findall(r"(?:^|[ /=\"'])leaseq ((?:serve|up|clear|webhook)\b[^\n`\"']*)", text):
        name, *words = line.split()
        command = main.get_command(context, name)
        assert command is not None
        options = {
            flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word for word in words if word.startswith("--")} <= options, line


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="platform: there is no systemd")
@pytest.mark.parametrize("unit", sorted((DOCS / "systemd").iterdir()), ids=lambda path: path.name)
def test_systemd_units_are_valid(unit: Path, tmp_path: Path) -> None:
    for path in (DOCS / "systemd").iterdir():
        text = path.read_text().replace("/opt/leaseq/bin/leaseq", "/bin/true")
        (tmp_path / path.name).write_text(text)
    command = ["systemd-analyze", "verify", "--recursive-errors=no", str(tmp_path / unit.name)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert [line for line in completed.stderr.splitlines() if unit.name in line] == []


@pytest.fixture(scope="module")
def nginx(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """nginx with the example's file in front of leaseq; yields the port for TLS."""
    settings: dict[str, Any] = {"LEASEQ_SECURE_COOKIES": "true", "LEASEQ_TRUSTED_PROXIES": "1"}
    with (
        run_gunicorn(
            server.url, SECRET, workers=1, threads=4, app=ADJUSTED_APP, SLOW_SECONDS="3600", **settings
        ) as (
            url,
            _,
        ),
        run_nginx(url.removeprefix("http://"), tmp_path_factory.mktemp("nginx")) as port,
    ):
        yield port


FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
def test_slow_clients_behind_nginx_do_not_block_other_requests(nginx: int) -> None:
    """Thirty clients of each kind: they send nothing, half of the headers or of a body, or read no answer."""
    head = b"POST /login HTTP/1.1\r\nHost: leaseq.example.org\r\n" + FORM
    unread_request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: leaseq.example.org\r\n\r\n"
    with ExitStack() as connections:
        for request in (b"", head, head + b"Content-Length: 9\r\n\r\nname", unread_request * 10) * 30:
            connections.enter_context(connect(nginx)).sendall(request)
        with connect(nginx) as connection:
            # nginx closes the slow ones after its default of 60 seconds.
            connection.settimeout(TIMEOUT / 2)
            connection.sendall(
                b"GET /healthz HTTP/1.1\r\nHost: leaseq.example.org\r\nConnection: close\r\n\r\n"
            )
            assert connection.recv(15) == b"HTTP/1.1 200 OK"


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
def test_fifth_concurrent_import_behind_nginx_is_refused(nginx: int, server: Any) -> None:
    accounts = Accounts(server.client)
    name = f"boss-{secrets.token_hex(4)}"
    accounts.add(name, by="test", role="manager")
    queue = leaseq.Queue(server.client, name)
    queue.configure()
    head = (
        f"POST /api/v1/queues/{name}/items HTTP/1.1\r\nHost: leaseq.example.org\r\n"
        f"Authorization: Bearer {accounts.create_token(name, 'test', by='test')}\r\n"
        "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    row = '{"payload": 1}\n'
    chunk = f"{len(row):x}\r\n{row}\r\n"

    def import_one_row() -> bytes:
        with connect(nginx) as connection:
            connection.sendall(f"{head}{chunk}0\r\n\r\n".encode())
            return connection.recv(12)

    with ExitStack() as connections:
        for _ in range(4):
            connections.enter_context(connect(nginx)).sendall(f"{head}{chunk}".encode())
        eventually(lambda: import_one_row() == b"HTTP/1.1 429", "the fifth import is refused")
    eventually(lambda: import_one_row() == b"HTTP/1.1 201", "the first four have ended")


HOST = "Host: leaseq.example.org\r\n"
IMPORTS = ("/api/v1/queues/x/items", "/api/v1/queues/x/import", "/manage/x/import", "/new-queue")


def status_before_body(port: int, path: str, length: int, headers: str = "") -> int:
    """The status of the answer to a request, of whose body only the first bytes are sent."""
    with connect(port) as connection:
        head = f"POST {path} HTTP/1.1\r\n{HOST}Content-Type: text/csv\r\nContent-Length: {length}\r\n"
        connection.sendall(f"{head}{headers}\r\n".encode() + b"id,text\n")
        return int(connection.recv(12).split()[1])


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
@pytest.mark.parametrize(
    "path", ["/login", "/api/v1/queues/x/items/1/finish", "/q/x/reserve", "/manage/x/items"]
)
def test_large_body_behind_nginx_is_refused_before_it_is_sent(nginx: int, path: str) -> None:
    assert status_before_body(nginx, path, 20_000_000) == 413


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
@pytest.mark.parametrize(
    "path", [*IMPORTS, "/manage/x/import/1", "/manage/x/import/1/check", "/new-queue/jobs/1/check"]
)
def test_import_of_a_stranger_behind_nginx_is_refused_before_it_is_sent(nginx: int, path: str) -> None:
    assert status_before_body(nginx, path, 20_000_000_000) in (303, 401)
    assert status_before_body(nginx, path, 20_000_000_000, "Accept: text/html\r\n") in (303, 401)


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
def test_import_of_any_size_passes_nginx(nginx: int, server: Any) -> None:
    accounts = Accounts(server.client)
    name = f"boss-{secrets.token_hex(4)}"
    accounts.add(name, by="test", role="manager")
    queue = leaseq.Queue(server.client, name)
    queue.configure()
    context = ssl._create_unverified_context()  # a self-signed certificate
    connection = http.client.HTTPSConnection("127.0.0.1", nginx, context=context, timeout=TIMEOUT)
    headers = {
        "Host": "leaseq.example.org",
        "Authorization": f"Bearer {accounts.create_token(name, 'test', by='test')}",
        "Content-Type": "text/csv",
    }
    rows = "".join(f"{number},{'x' * 100_000}\n" for number in range(100))
    connection.request("POST", f"/api/v1/queues/{name}/import", f"id,text\n{rows}", headers)
    response = connection.getresponse()
    assert (response.status, queue.stats().inbound) == (200, 100)
    connection.close()


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
def test_nginx_example_secures_cookies_and_passes_request_id(nginx: int) -> None:
    def send_request(path: str, **headers: str) -> http.client.HTTPResponse:
        context = ssl._create_unverified_context()  # a self-signed certificate
        connection = http.client.HTTPSConnection("127.0.0.1", nginx, context=context, timeout=30)
        connection.request("GET", path, headers={"Host": "leaseq.example.org", **headers})
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    response = send_request("/login")
    assert response.status == 200
    cookie = str(response.headers["Set-Cookie"])
    assert cookie.startswith("__Host-leaseq=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
    assert "max-age" in response.headers["Strict-Transport-Security"]
    spoofed_response = send_request(
        "/healthz", **{"X-Request-Id": "forged-by-the-client", "X-Forwarded-For": "203.0.113.9"}
    )
    assert re.fullmatch(r"[0-9a-f]{32}", spoofed_response.headers["X-Request-Id"]), (
        "nginx's own id was passed on"
    )
    assert send_request("/metrics").status == 404
    assert send_request("/readyz").status == 200
