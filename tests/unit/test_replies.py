"""Each code that a script may reply is in the table of refusals, or is known as a successful reply; no other
module compares a reply with a literal code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from leaseq.engine import replies
from leaseq.engine.scripts import SCRIPTS

ROOT = Path(__file__).parents[2]
SUCCESS_CODES = {
    *("ok", "item", "items", "policy", "schema", "stats", "entries", "history", "leases"),
    *("leased", "nothing", "more", "finished", "form", "digests", "changed", "deleting", "failed"),
    *(
        "something",
        "paused",
        "stopped",
        "not-eligible",
        "held",
        "empty",
        "position",
        "outcomes",
        "step",
        "again",
    ),
    *("stopped", "other-answers", "state", "exists", "unread", "counts", "clear"),
}


def codes(script: str) -> set[str]:
    """Return the codes in the script's header."""
    header = (ROOT / "lua" / f"{script}.lua").read_text().partition("]]")[0]
    forms = header.partition("\nREPLY ")[2]
    return set(re.findall(r"\{'([a-z-]+)'", forms))


def refusal_codes(script: str) -> set[str]:
    codes = replies._TABLE
    return {code.decode() for name, code in codes if name in (script, replies._ANY)}


def test_each_reply_code_of_a_script_header_is_known() -> None:
    for script in SCRIPTS:
        header_codes = codes(script)
        assert header_codes, f"the header of {script} describes its replies"
        assert header_codes - refusal_codes(script) <= SUCCESS_CODES, script
        assert not header_codes & refusal_codes(script) & SUCCESS_CODES, script


def test_each_code_of_the_table_is_in_a_script_header() -> None:
    for script, code in replies._TABLE:
        scripts = [script] if script != replies._ANY else sorted(SCRIPTS)
        assert any(code.decode() in codes(name) for name in scripts), (script, code)


def test_reply_codes_are_compared_only_in_the_replies_module() -> None:
    for path in sorted((ROOT / "leaseq").rglob("*.py")):
        if path != Path(replies.__file__) and not path.is_relative_to(ROOT / "leaseq" / "webapp"):
            lines = [node.lineno for node in comparisons(path) if compares_a_code(node)]
            assert not lines, f"{path.relative_to(ROOT)}, line {lines}: compare codes in engine/replies.py"


def comparisons(path: Path) -> list[ast.Compare]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Compare)]


def compares_a_code(node: ast.Compare) -> bool:
    """``reply.code == b"…"``, or ``following[0] == b"…"``, or the same with the sides exchanged."""
    sides = [node.left, *node.comparators]
    is_reply = any(isinstance(one, ast.Subscript) or getattr(one, "attr", "") == "code" for one in sides)
    return is_reply and any(isinstance(one, ast.Constant) and isinstance(one.value, bytes) for one in sides)
