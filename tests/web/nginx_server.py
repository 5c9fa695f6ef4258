"""nginx with docs/nginx/leaseq.conf, on ports of this machine."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port
from tests.support.waiting import TIMEOUT, eventually

CONFIGURATION = Path(__file__).parents[2] / "docs" / "nginx" / "leaseq.conf"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")
HAS_NGINX = bool(NGINX and OPENSSL)


@contextmanager
def run_nginx(address: str, folder: Path) -> Iterator[int]:
    """Run nginx with the example's file, other ports and its own certificate; yield the port for TLS."""
    http_port, tls_port = free_port(), free_port()
    _make_certificate(folder)
    site = re.sub(r"    listen \[::\].*\n", "", CONFIGURATION.read_text())
    for example, actual in (
        ("127.0.0.1:8000", address),
        ("listen 80;", f"listen 127.0.0.1:{http_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{tls_port} "),
        ("/etc/ssl/leaseq", str(folder)),
    ):
        assert example in site
        site = site.replace(example, actual)
    temp_paths = "".join(
        f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
        "worker_rlimit_nofile 20000; events { worker_connections 8000; }\n"
        f"http {{ access_log off; {temp_paths}\n{site}\n}}\n"
    )
    command = [str(NGINX), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    completed = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    process = subprocess.Popen(command)
    try:
        eventually(lambda: _listens(tls_port), "nginx listens")
        yield tls_port
    finally:
        process.terminate()
        process.wait(30)


def connect(port: int) -> ssl.SSLSocket:
    plain_socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
    return tls_context().wrap_socket(plain_socket, server_hostname="localhost")


def tls_context() -> ssl.SSLContext:
    return ssl._create_unverified_context()  # self-signed


def _make_certificate(folder: Path) -> None:
    command = f"{OPENSSL} req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout privkey.pem"
    subprocess.run([*command.split(), "-out", "fullchain.pem"], cwd=folder, check=True, capture_output=True)


def _listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
