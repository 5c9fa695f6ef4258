"""The list of mutants is true to the code: each can be planted today, and is a program all the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from leaseq.engine.commands import SCRIPTS
from tests.conftest import Server
from tests.mutants import MUTANTS, Mutant
from tests.support.planting import ROOT


def test_there_is_one_for_each_move() -> None:
    planted = {Path(mutant.file).stem for mutant in MUTANTS if mutant.file.startswith("lua/")}
    of_includes = {"reserve", "remove"}
    assert set(SCRIPTS) - planted - of_includes == {"get", "policy", "schema"}  # they only read
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_planted(server: Server, mutant: Mutant) -> None:
    whole = (ROOT / mutant.file).read_text()
    assert whole.count(mutant.piece) == 1
    assert mutant.piece != mutant.instead
    assert all((ROOT / test).is_file() for test in mutant.tests)
    if mutant.file.endswith(".py"):
        ast.parse(whole.replace(mutant.piece, mutant.instead))
        return
    of_move = mutant.file == f"lua/{Path(mutant.file).name}"
    scripts = [SCRIPTS[Path(mutant.file).stem]] if of_move else SCRIPTS.values()
    source = next(script.source for script in scripts if mutant.piece in script.source)
    server.redis.script_load(source.replace(mutant.piece, mutant.instead))
