"""What is published: the sdist, the wheel built from it, and the wheel installed in an empty environment."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from leaseq.server.embedded import EmbeddedServer
from tests.support.processes import UpProcess, environment

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


def run(*argv: object, cwd: Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
    completed = subprocess.run(
        [str(word) for word in argv], cwd=cwd, env=environment(), capture_output=True, text=True, check=False
    )
    assert not ok or completed.returncode == 0, completed.stdout + completed.stderr
    return completed


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the unpacked sdist, which proves that the sdist contains all that it needs."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = folder / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    (path,) = folder.glob("*.whl")
    return path


def install_wheel(wheel: Path, folder: Path, extra: str = "") -> Path:
    """A fresh environment with the wheel and its dependencies, in the versions of the lock file."""
    run(UV, "venv", "--quiet", "--python", sys.executable, "fresh", cwd=folder)
    python = folder / "fresh" / "bin" / "python"
    lock = ROOT / "requirements" / "dev.txt"
    run(UV, "pip", "install", "--quiet", "--python", python, "-c", lock, f"{wheel}{extra}", cwd=folder)
    return python.with_name("leaseq")


def test_wheel_contains_all_scripts_pages_and_type_marker(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    scripts = {f"leaseq/lua/{path.relative_to(ROOT / 'lua')}" for path in (ROOT / "lua").rglob("*.lua")}
    pages = {
        f"leaseq/{path.relative_to(ROOT)}"
        for folder in ("templates", "static")
        for path in (ROOT / "webapp" / folder).rglob("*.*")
    }
    guides = {
        f"leaseq/{path.relative_to(ROOT)}"
        for pattern in ("*.md", "how-to/*.md", "images/*")
        for path in (ROOT / "docs").glob(pattern)
    }
    assert scripts
    assert pages
    assert guides
    assert names >= scripts | pages | guides | {"leaseq/py.typed", "leaseq/webapp/demo/messages.json"}


def test_wheel_contains_no_development_files(wheel: Path) -> None:
    """No tools, no tests, no sources of translations; `test_reachable` finds modules that nothing uses."""
    paths = [Path(name) for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert {path.parts[0] for path in paths} == {"leaseq"}
    assert {path.parts[1] for path in paths} & {"tools", "tests", "benchmarks"} == set()
    assert {path.parts[2] for path in paths if path.parts[1] == "docs" and len(path.parts) > 3} == {
        "how-to",
        "images",
    }
    suffixes = {".py", ".lua", ".html", ".css", ".js", ".svg", ".jpg", ".png", ".json", ".md", ".mo"}
    other_names = {"py.typed", "common_passwords.txt"}
    assert [str(path) for path in paths if path.suffix not in suffixes and path.name not in other_names] == []


def test_installed_library_works_without_web_extra(
    wheel: Path, tmp_path: Path, own_server: EmbeddedServer
) -> None:
    command = install_wheel(wheel, tmp_path)
    assert "simulate" in run(command, "--help", cwd=tmp_path).stdout
    code = (
        "import leaseq, leaseq.aio, sys; queue = leaseq.Queue(leaseq.connect(sys.argv[1]), 'q');"
        "queue.enqueue({'n': 1}); lease = queue.reserve('ann'); queue.finish(lease, {'ok': True});"
        "print(leaseq.__file__, queue.stats().finished, 'flask' in sys.modules)"
    )
    code_run = run(command.with_name("python"), "-c", code, own_server.url, cwd=tmp_path)
    module_path, finished_count, flask = code_run.stdout.split()
    assert Path(module_path).is_relative_to(tmp_path)
    assert (finished_count, flask) == ("1", "False")
    code = "from leaseq.webhooks import endpoints; print(len(endpoints.questions()))"
    assert run(command.with_name("python"), "-c", code, cwd=tmp_path).stdout == "1\n"
    up_run = run(command, "up", cwd=tmp_path, ok=False)
    assert (up_run.returncode, up_run.stdout) == (1, "")
    message = (
        r"leaseq: `leaseq up` needs the web parts, and \w+ is not installed: pip install 'leaseq\[web\]'\n"
    )
    assert re.fullmatch(message, up_run.stderr)
    assert not (tmp_path / "leaseq-data").exists()


def test_leaseq_up_serves_pages_with_web_extra(
    wheel: Path, tmp_path: Path, data_dir: Path, port: int
) -> None:
    command = install_wheel(wheel, tmp_path, "[web]")
    other_webapp = tmp_path / "webapp.py"  # of another program in the same environment
    other_webapp.write_text("raise AssertionError('this is not the web app of leaseq')")
    (packages,) = (tmp_path / "fresh" / "lib").glob("python*/site-packages")
    (packages / "webapp.py").symlink_to(other_webapp)
    up = UpProcess(data_dir, port, "--demo", command=command)
    try:
        assert up.get("/healthz") == 200
        (setup,) = (line for line in up.lines if "/setup" in line)
        assert up.get(setup.partition(str(port))[2]) == 200
    finally:
        up.stop()
