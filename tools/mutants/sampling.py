"""Draws a sample of the mutants by a seed."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path

import redis

import leaseq
from leaseq.engine import scripts
from leaseq.server.embedded import EmbeddedServer
from tools import lua_rules
from tools.mutants import python_operators, sources
from tools.mutants.mutant import Mutant
from tools.planted_faults import ROOT


def sample(seed: int, count: int, words: tuple[str, ...] = ()) -> list[Mutant]:
    """This many mutants of files whose path contains one of the words, or of all files. Each compiles.

    Lua, the library and the web app have equal shares in it, and so do the operators within each: otherwise
    half of all would be keyword arguments.
    """
    with compiler() as compiles:
        return list(islice(filter(compiles, _draw(seed, words)), count))


def _draw(seed: int, words: tuple[str, ...]) -> Iterator[Mutant]:
    generator = random.Random(seed)
    remaining = {part: _by_operator(seed, part, words) for part in sources.PARTS}
    while remaining := {part: operators for part, operators in remaining.items() if operators}:
        operators = remaining[generator.choice(list(remaining))]
        operator = generator.choice(sorted(operators))
        yield operators[operator].pop()
        if not operators[operator]:
            del operators[operator]


def _by_operator(seed: int, part: str, words: tuple[str, ...]) -> dict[str, list[Mutant]]:
    mutants_by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for file in sources.files(part):
        if not words or any(word in file for word in words):
            for mutant in sources.mutants_of(file):
                mutants_by_operator[mutant.edit.operator].append(mutant)
    for mutants in mutants_by_operator.values():
        mutants.sort(key=lambda mutant: rank(seed, mutant, sources.text(mutant.file)))
    return mutants_by_operator


def rank(seed: int, mutant: Mutant, text: str) -> str:
    """The place of a mutant in the draw. It depends on the mutant's own line and not on the lines around it:
    otherwise each change of the code would give the seed another sample, and nobody could work one off."""
    line = text.splitlines()[mutant.line - 1].strip()
    words = (str(seed), mutant.file, mutant.edit.operator, str(mutant.ordinal), line)
    return sha256("\n".join(words).encode()).hexdigest()


@contextmanager
def compiler() -> Iterator[Callable[[Mutant], bool]]:
    """A function that checks with a server or Python whether a mutant compiles."""
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
    names = [path.stem] if path.parent == lua else sorted(scripts.SCRIPTS)  # lib/ is in many
    sources_before = {name: scripts.read(lua, name).source for name in names}
    original_text = path.read_text()
    path.write_text(text)
    try:
        for name in names:
            lua_rules.check(scripts.read_files(lua), name)
        sources_after = {name: scripts.read(lua, name).source for name in sources_before}
        for name, source in sources_after.items():
            if source != sources_before[name]:
                server.script_load(source)
    except (redis.ResponseError, scripts.ScriptError):
        return False
    finally:
        path.write_text(original_text)
    return True
