"""The list of guards, the code of the product, the marks of tests and docs/security.md agree."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.meta.guards import GUARDS
from tests.meta.guards.guard import ROOT, marked_tests

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


def test_each_guard_is_the_mark_of_a_test() -> None:
    assert {guard.id for guard in GUARDS} == marked_tests().keys()
    assert max(Counter(guard.id for guard in GUARDS).values()) == 1


def test_each_guard_removal_changes_its_file() -> None:
    for guard in GUARDS:
        text = (ROOT / guard.file).read_text()
        text_without = guard.apply(text)
        if guard.file.endswith(".py"):
            assert ast.dump(ast.parse(text_without)) != ast.dump(ast.parse(text)), guard.id
        else:
            assert text_without != text, guard.id


def test_guard_removal_leaves_no_undefined_name(tmp_path: Path) -> None:
    """Otherwise its tests would fail because of the name, and not because the guard is missing."""
    for guard in GUARDS:
        if guard.file.endswith(".py"):
            text = guard.apply((ROOT / guard.file).read_text())
            (tmp_path / f"{guard.id}.py").write_text(text)
    words = ("ruff", "check", "--isolated", "--quiet", "--select", "F821", str(tmp_path))
    completed = subprocess.run([sys.executable, "-m", *words], check=False, capture_output=True, text=True)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
