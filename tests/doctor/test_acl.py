"""The list of commands that leaseq needs matches what the scripts call and what the web app sends."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from leaseq.doctor.rights import CLIENT, LIBRARY, METRICS, PAGES, SCRIPTS

ROOT = Path(__file__).parents[2]
METHOD_COMMANDS = {
    "delete": ("del",),
    "incr": ("incrby",),
    "pipeline": ("multi", "exec"),
    "transaction": ("watch", "unwatch", "multi", "exec"),
    "execute": (),
    "execute_command": (),  # the commands of `reader_of`, which the tests send as this user
    "scan_iter": ("scan",),
}


def script_commands(text: str) -> set[str]:
    """Return the commands of a script, named as in ACLs."""
    matches = re.findall(r"\bcall\(\s*'(\w+)'(?:,\s*'([A-Z]+)')?", text)
    return {f"{name}|{sub}".lower() if name in ("XINFO", "XGROUP") else name.lower() for name, sub in matches}


def test_scripts_call_exactly_listed_commands() -> None:
    scripts = [path.read_text() for path in (ROOT / "lua").rglob("*.lua")]
    assert set().union(*map(script_commands, scripts)) == set(SCRIPTS)


def test_script_calls_name_their_command_literally() -> None:
    for path in (ROOT / "lua").rglob("*.lua"):
        for line in re.findall(r"\bcall\(.*", path.read_text()):
            assert re.match(r"call\(\s*('[A-Z]+'|$)", line), f"{path.name}: {line}"


def redis_py_commands(path: Path) -> Iterator[str]:
    """Yield the commands that a file of the web app sends directly by redis-py, without the library."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            receiver = ast.unparse(node.func.value)
            if receiver == "pipe" or receiver.endswith(("_redis", "client.redis")):
                yield from METHOD_COMMANDS.get(node.func.attr, (node.func.attr,))


def test_web_app_sends_exactly_listed_commands() -> None:
    commands = {name for path in (ROOT / "webapp").rglob("*.py") for name in redis_py_commands(path)}
    assert commands - set(LIBRARY) == {*PAGES, *METRICS}


def test_listed_commands_are_unique() -> None:
    needs = (*CLIENT, *SCRIPTS, *PAGES)
    assert len(needs) == len(set(needs))
