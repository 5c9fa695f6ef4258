"""``./dev test --quick`` chooses tests by what changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import quick

ROOT = quick.ROOT


def changed_lines(file: str, *words: str) -> dict[str, str]:
    """A change of the lines of a file that have these words."""
    lines = [line for line in (ROOT / file).read_text().splitlines() if any(word in line for word in words)]
    assert lines, f"{file} has no line with {words}"
    return {file: "\n".join(lines)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (changed_lines("lua/renew.lua", "lease"), "tests/engine/renew/test_renew.py"),
        (changed_lines("leaseq/worker/heartbeat.py", "renew", "lease"), "tests/worker/test_leases.py"),
        (changed_lines("webapp/auth/login.py", "code", "factor"), "tests/web/auth/test_factor.py"),
        ({"tests/cli/test_work.py": ""}, "tests/cli/test_work.py"),
        ({"tests/support/receiver.py": ""}, "tests/webhooks/test_deliverer.py"),
        ({"tests/bridge/conftest.py": ""}, "tests/bridge/test_archiver.py"),
        ({"docs/tutorial.md": ""}, "tests/meta/docs"),
        ({"tools/quick.py": ""}, "tests/tools"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_tests_nearest_to_change_are_chosen(changes: dict[str, str], expected: str) -> None:
    tests = quick.tests_near(changes)
    assert expected in tests
    assert set(quick.ALWAYS) <= set(tests)
    assert len(tests) <= quick.NEAREST + len(quick.ALWAYS) + 1
    assert [test for test in tests if not (ROOT / test).exists()] == []


def test_change_of_page_runs_few_files_in_browser() -> None:
    tests = quick.tests_near(changed_lines("webapp/templates/work/page.html", "lease", "item"))
    assert len([test for test in tests if test.startswith("tests/browser/")]) == quick.NEAREST_OF_PAGES


def test_slow_file_runs_only_if_it_changed_itself() -> None:
    slow = "tests/web/commands/test_up.py"
    assert slow in quick.tests_near({slow: ""})
    assert slow not in quick.tests_near(changed_lines("webapp/commands/up.py", "up", "pid"))


def test_changes_are_those_since_main_and_not_yet_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=ann", "-c", "user.email=ann@example.org", *words],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )

    def commit(file: str) -> None:
        (tmp_path / file).write_text(f"{file}\n")
        git("add", "-A")
        git("commit", "-m", file)

    monkeypatch.setattr(quick, "ROOT", tmp_path)
    git("init", "-b", "main")
    commit("old")
    commit("last")
    assert quick.changed().keys() == {"last"}, "on main with nothing changed, the last commit"
    git("checkout", "-b", "branch")
    commit("committed")
    (tmp_path / "old").write_text("edited\n")
    (tmp_path / "new").write_text("new\n")
    (tmp_path / "last").unlink()
    changes = quick.changed()
    assert changes.keys() == {"committed", "old", "new"}
    assert "+edited" in changes["old"]
    git("checkout", "main", "--force")
    assert quick.changed().keys() == {"new"}, "on main, what is not committed"
