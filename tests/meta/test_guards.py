"""The list of guards is true to the code: each piece is there, and each test that should notice exists. So is
the page that shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.security.guards import GUARDS, Guard
from tests.security.table import table

ROOT = Path(__file__).parents[2]
ROWS = {
    "default-deny roles over every route",
    "lease actions only by their holder",
    "CSRF",
    "strict CSP with nonces, no unsafe-inline",
    "cookies HttpOnly, SameSite, Secure and __Host- under TLS",
    "session ends on logout, password change and disable, everywhere",
    "login limited by person and address",
    "same answer and time for unknown people",
    "argon2id, length 10–128, a list of common passwords",
    "no default password",
    "tokens stored as hashes",
    "next= only to own paths",
    "payloads and markdown inert (script, onerror, javascript:, SVG)",
    "images only of allowed origins",
    "CSV cells neutralised",
    "body, JSON depth and number limits",
    "X-Forwarded-* only from configured proxies",
    "log lines escaped",
    "weak or missing LEASEQ_SECRET_KEY refused outside up",
    "remote $ref refused",
    "OIDC sign-in",
    "optional TOTP second factor",
}


def test_every_row_has_a_guard() -> None:
    assert {guard.row for guard in GUARDS} >= ROWS


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: f"{guard.row}-{guard.file}")
def test_a_guard_is_where_the_list_says(guard: Guard) -> None:
    assert guard.piece in (ROOT / guard.file).read_text()
    for test in guard.test.split():
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text()
        assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), test


def test_the_page_has_the_table() -> None:
    """``python -m tests.security.table`` prints it."""
    assert table() in (ROOT / "docs/security.md").read_text()
