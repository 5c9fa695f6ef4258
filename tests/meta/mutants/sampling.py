"""A sample of the mutants, by a seed."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import redis

import leaseq
from leaseq.engine import scripts
from leaseq.server.embedded import EmbeddedServer
from tests.meta.mutants import python_operators, sources
from tests.meta.mutants.mutant import Mutant
from tests.support.planting import ROOT


def sample(seed: int, count: int, words: tuple[str, ...] = ()) -> list[Mutant]:
    """So many mutants of files whose path has one of the words, or of all files. Each of them compiles.

    Lua, the library and the web app have equal parts in it, and within these each operator has: otherwise
    half of all would be keyword arguments.
    """
    with compiler() as compiles:
        return list(islice(filter(compiles, _drawn(random.Random(seed), words)), count))


def _drawn(chance: random.Random, words: tuple[str, ...]) -> Iterator[Mutant]:
    left = {part: _by_operator(part, words) for part in sources.PARTS}
    while left := {part: operators for part, operators in left.items() if operators}:
        operators = left[chance.choice(list(left))]
        operator = chance.choice(list(operators))
        mutants = operators[operator]
        yield mutants.pop(chance.randrange(len(mutants)))
        if not mutants:
            del operators[operator]


def _by_operator(part: str, words: tuple[str, ...]) -> dict[str, list[Mutant]]:
    found: dict[str, list[Mutant]] = defaultdict(list)
    for file in sources.files(part):
        if not words or any(word in file for word in words):
            for mutant in sources.mutants_of(file):
                found[mutant.edit.operator].append(mutant)
    return found


@contextmanager
def compiler() -> Iterator[Callable[[Mutant], bool]]:
    """Whether a mutant is a program, of which a server or Python says so."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        shutil.copytree(ROOT / "lua", Path(folder) / "lua")
        with EmbeddedServer(Path(folder) / "data", fsync="no") as server:
            client = leaseq.connect(server.url)

            def compiles(mutant: Mutant) -> bool:
                source = sources.text(mutant.file)
                if mutant.file.endswith(".py"):
                    return python_operators.is_program(source, mutant.apply(source))
                assert isinstance(client.redis, redis.Redis)
                return is_script(mutant.file, mutant.apply(source), Path(folder) / "lua", client.redis)

            yield compiles


def is_script(file: str, text: str, lua: Path, server: redis.Redis) -> bool:
    """Whether the server compiles all scripts when this file of lua/ has this text. ``lua`` is a copy."""
    path = lua / Path(file).relative_to("lua")
    before = {name: scripts.read(lua, name).source for name in scripts.names()}
    whole = path.read_text()
    path.write_text(text)
    try:
        after = {name: scripts.read(lua, name).source for name in before}
        for name, source in after.items():
            if source != before[name]:
                server.script_load(source)
    except (redis.ResponseError, scripts.ScriptError):
        return False
    finally:
        path.write_text(whole)
    return True
