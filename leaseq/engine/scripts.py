"""The scripts in lua/: joined with their includes, called by EVALSHA, their errors with file and line."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, TypeAlias, cast

from hiredis import pack_command

from leaseq.engine.keys import Keys
from leaseq.policy import rule_defaults, text_defaults

_log = logging.getLogger("leaseq.engine")


def message_of(error: Exception, script: Script | None) -> str:
    """The text of an error; ``script`` is the one that was run or loaded. If the text names a line of the
    script, the error is inside the script, and is logged: call this once per error."""
    message = str(error)
    if script is None or not (places := script.places(message)):
        return message
    readable_message = script.readable(message)
    # The script stopped at the last place; the message may begin with the line of a function's caller.
    _log.error("script %s failed at %s: %s", script.name, places[-1], readable_message)
    return readable_message


Line = tuple[str, int, str]
"""A file, a line number in it, and the line."""

_FUNCTION = re.compile(r"(?:local )?function ([\w.]+)\(")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")


@dataclass(frozen=True, eq=False)
class _Part:
    """A top-level function with its name, or any other single line, without a name."""

    name: str | None
    stage: int  # the number of blocks of includes in the script up to here
    lines: list[Line]

    def names(self) -> set[str]:
        """The names that it may use: each word, and each word with its field, as in ``grants.parse``."""
        words = {name for _, _, text in self.lines for name in _NAME.findall(text)}
        return words | {name.partition(".")[0] for name in words}


def arrange_functions(lines: Iterable[Line]) -> list[Line]:
    """Return the lines without the top-level functions that nothing uses. A function that is first used after
    a later block of includes is moved to the start of that block, so that it is not created if the script
    returns before it.

    A top-level function begins at the start of a line, and ends with that line or at the next ``end`` at the
    start of a line.
    """
    parts = list(_parts(lines))
    unused_parts = [part for part in parts if part.name is not None]
    used_names, kept_parts = set[str](), list[_Part]()
    for stage in range(parts[-1].stage + 1):
        reached_parts = [part for part in parts if part.name is None and part.stage == stage]
        block = []
        while reached_parts:
            block += reached_parts
            used_names = used_names.union(*(part.names() for part in reached_parts))
            reached_parts = [part for part in unused_parts if part.name in used_names and part.stage <= stage]
            unused_parts = [part for part in unused_parts if part not in reached_parts]
        kept_parts += sorted(block, key=parts.index)
    return [line for part in kept_parts for line in part.lines]


def _parts(lines: Iterable[Line]) -> Iterator[_Part]:
    script, previous_file, stage = None, None, 0
    lines = iter(lines)
    for file, number, text in lines:
        script = script or file
        stage += previous_file == script != file
        previous_file = file
        match = _FUNCTION.match(text)
        part = _Part(match[1] if match else None, stage, [(file, number, text)])
        if match and not text.endswith(" end"):
            for line in lines:
                part.lines.append(line)
                if line[2] == "end":
                    break
        yield part


_TOKEN = re.compile(
    r"""--\[\[ .*? \]\] | --[^\n]*             # a comment
      | '(?:\\.|[^'\\\n])*' | "(?:\\.|[^"\\\n])*" | \[\[ .*? \]\]
      | ^\#![^\n]* | \d[\w.]* | \.\.\.?
      | [.:]\s*[A-Za-z_]\w*                    # a field of a table
      | (?P<name>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANT_LINE = re.compile(r"^--- @constant (.*)$", re.MULTILINE)
_CONSTANT = re.compile(r"([A-Z][A-Z0-9_]*)(?:\(([a-z_]+(?:, [a-z_]+)*)\))? (\S.*)")
_ARGUMENTS = re.compile(r"\(([^()]*)\)")


def code_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a Lua file with their numbers, from 1, without comments and empty lines."""
    comment = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = comment or line.startswith("--[[")
        if not comment and line.strip() and not re.match(r" *--(?!- @)", line):
            yield number, line
        comment = comment and "]]" not in line


@dataclass(frozen=True)
class Constant:
    """The text of an expression that files use by a name, with parameters or without."""

    file: str
    parameters: tuple[str, ...]
    value: str


def find_constants(files: Mapping[str, str]) -> dict[str, Constant]:
    """The constants that these files define, by name. Raises ScriptError."""
    constants: dict[str, Constant] = {}
    definitions = [(file, line) for file, text in files.items() for line in _CONSTANT_LINE.findall(text)]
    for file, definition in definitions:
        match = _CONSTANT.fullmatch(definition)
        if not match:
            raise ScriptError(
                f"{file}: expected a constant as NAME value or NAME(parameter, …) value, got {definition}"
            )
        name, parameters, value = match.groups()
        if name in constants:
            raise ScriptError(f"{file} defines {name}, which {constants[name].file} also defines: rename one")
        constants[name] = Constant(file, tuple((parameters or "").split(", ")) if parameters else (), value)
    return constants


def expand_constants(file: str, text: str, constants: Mapping[str, Constant]) -> str:
    """The text of a file with the value of each constant in place of its name, and without definitions.
    Raises ScriptError for a wrong number of arguments."""
    text, parts, end = _CONSTANT_LINE.sub("--", text), list[str](), 0
    for token in _TOKEN.finditer(text):
        if not (constant := constants.get(token["name"] or "")):
            continue
        arguments = _ARGUMENTS.match(text, token.end()) if constant.parameters else None
        values = arguments[1].split(", ") if arguments else []
        if len(values) != len(constant.parameters):
            raise ScriptError(
                f"{file}: expected {len(constant.parameters)} arguments of {token['name']}, got {len(values)}"
            )
        by_parameter = dict(zip(constant.parameters, values, strict=True))
        parts += [text[end : token.start()], _replace_names(constant.value, by_parameter)]
        end = arguments.end() if arguments else token.end()
    return "".join([*parts, text[end:]])


def _replace_names(text: str, values: Mapping[str, str]) -> str:
    return _TOKEN.sub(lambda token: values.get(token["name"] or "", token[0]), text)


pack: Callable[[tuple[Any, ...]], bytes] = cast("Any", pack_command)
"""Encodes a command for the server. hiredis's annotations allow only tuples of one word, hence the cast."""

Words: TypeAlias = tuple[str | int, ...]
"""The arguments of a script."""

# Text before a script's line in an error of the server: Redis 7 adds the script's SHA, Valkey does not.
_RUNNING_SCRIPT = re.compile(r"\bscript: (?:[0-9a-f]{40}, )?on (?=@user_script:\d)")
_LINE = re.compile(r"@?\buser_script:(\d+)")
# 'end' expected (to close 'if' at line 7) near …
_OPENING_LINE = re.compile(r"(?<=' at )line (\d+)(?=\) near )")


@dataclass(frozen=True, slots=True)
class Script:
    """One script: its name, its keys in order, and its full text."""

    name: str
    keys: tuple[str, ...]  # names of attributes of Keys
    source: str
    sha: str
    lines: tuple[tuple[str, int], ...]  # the file of each line of the source, and its number there

    @property
    def writes(self) -> bool:
        return "no-writes" not in self.source[: self.source.index("\n")]

    def where(self, line: int) -> str:
        """The file and line from which a line of ``source`` comes: ``lib/grants.lua:12``. A line past the end
        counts as the last one: Lua's compiler reports it if an ``end`` is missing."""
        file, number = self.lines[min(line, len(self.lines)) - 1]
        return f"{file}:{number}"

    def places(self, message: str) -> list[str]:
        """The files and lines named in an error of the server, in the form that ``where`` returns."""
        return [self.where(int(line)) for line in _LINE.findall(message)]

    def readable(self, message: str) -> str:
        """The server's error message, with this script's line numbers replaced by files and lines."""
        message = _RUNNING_SCRIPT.sub(f"script: {self.name}, on ", message)
        for pattern in (_LINE, _OPENING_LINE):
            message = pattern.sub(lambda match: self.where(int(match[1])), message)
        return message


class BoundScript:
    """A script with the keys of one queue."""

    def __init__(self, script: Script, keys: Keys, *extra_keys: str) -> None:
        self.script = script
        self.keys: tuple[str, ...] = (*(getattr(keys, name) for name in script.keys), *extra_keys)
        self._queue_keys = keys
        self.words = ("EVALSHA", script.sha, str(len(self.keys)), *self.keys)

    @cached_property
    def for_cluster(self) -> BoundScript:
        """The script for a cluster, with one more key, which never exists. While a slot is being migrated, a
        node answers TRYAGAIN or ASK if one of the script's keys is missing. If none is missing, it runs the
        script, and aborts it halfway if the script reads a key that does not exist, or creates a second one
        while the first is still being migrated."""
        return BoundScript(self.script, self._queue_keys, self._queue_keys.absent)


@cache
def load(name: str, *keys: str) -> Script:
    return _join(FILES, name, *keys)


def read(folder: Traversable, name: str, *keys: str) -> Script:
    """Read a script from the folder that contains its file and, in ``lib/``, the files that it includes."""
    return _join(read_files(folder), name, *keys)


def _join(files: Mapping[str, str], name: str, *keys: str) -> Script:
    """Join a script from its file and those that it includes.

    A line ``--- @include grants`` is replaced by the file ``lib/grants.lua``, after the files which that one
    includes; ``--- @defaults`` and ``--- @texts`` by tables of the policy's fields. Each file is joined once,
    without comments and empty lines, and each function only if the script uses it.
    ``--- @constant NAME value`` in any file gives each NAME in all files this value, and ``--- @constant
    NAME(parameter, …) value`` each NAME(argument, …), so that a grammar is spelled once and costs nothing.
    The rules that files follow otherwise are checked by ``tools/lua_rules.py``.
    """
    lines = arrange_functions(_lines(f"{name}.lua", files, find_constants(files), set()))
    source = "".join(text + "\n" for _, _, text in lines)
    sha = sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(name, keys, source, sha, tuple((file, number) for file, number, _ in lines))


class ScriptError(Exception):
    """A Lua file breaks a rule of the loader."""


def _lines(
    file: str, files: Mapping[str, str], constants: Mapping[str, Constant], joined: set[str]
) -> Iterator[Line]:
    """Yield the lines of a file and of those that it includes, without the files ``joined`` before."""
    joined.add(file)
    for number, line in code_of(expand_constants(file, files[file], constants)):
        directive, _, name = line.partition("--- @")[2].partition(" ")
        if make := _TABLES.get(directive):
            yield file, number, f"local {directive.upper()} = {make()}"
        elif not directive:
            yield file, number, line
        elif (included := f"lib/{name}.lua") not in joined:
            yield from _lines(included, files, constants, joined)


def _defaults() -> str:
    words = {name: f"'{value}'" if value != "-" else "false" for name, value in rule_defaults().items()}
    return f"{{ {', '.join(f'{name} = {word}' for name, word in sorted(words.items()))} }}"


def _texts() -> str:
    fields = (f"{{ name = '{name}', default = '{value}' }}" for name, value in text_defaults().items())
    return f"{{ {', '.join(fields)} }}"


_TABLES: Final = {"defaults": _defaults, "texts": _texts}
"""The replacement of a directive: the policy's rules or texts, with their defaults, as a Lua table."""


def read_files(folder: Traversable) -> dict[str, str]:
    """The texts of the Lua files, by name: ``finish.lua``, ``lib/grants.lua``."""
    return {
        f"{prefix}{entry.name}": entry.read_text(encoding="utf-8")
        for prefix, part in (("", folder), ("lib/", folder / "lib"))
        for entry in part.iterdir()
        if entry.name.endswith(".lua")
    }


# In a checkout, `leaseq/lua` links to the folder next to the package. All files are read at once, so that a
# process keeps its scripts if another version is installed while it runs.
FILES: Final = read_files(files("leaseq") / "lua")

_ROW = ("ledger", "items", "inbound", "reserved", "scheduled", "dead")
_ALL = (*_ROW, "finished", "journal", "history")
_MANAGER = (*_ALL, "late", "drafts")
_READ = (*_ROW, "finished", "history", "late")

_LEDGER = ("ledger",)
_CHANGED = ("ledger", "journal")

_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "enqueue": ("ledger", "items", "inbound", "scheduled", "journal"),
    "reserve": ("ledger", "items", "inbound", "reserved", "journal"),
    "end_wait": _ALL,
    "renew": (*_ALL, "drafts", "late"),
    "save_draft": (*_ROW, "finished", "history", "drafts", "late"),
    "finish": ("ledger", "reserved", "journal", "finished"),
    **dict.fromkeys(("undo_finish", "take_back"), (*_ALL, "drafts", "late")),
    **dict.fromkeys(("abandon", "fail"), (*_ALL, "late")),
    "clear": (*_ROW, "finished", "journal"),
    "check_alerts": ("ledger", "inbound", "reserved", "dead", "journal"),
    **dict.fromkeys(("revive", "release", "assign", "unassign", "unassign_person", "change"), _MANAGER),
    **dict.fromkeys(("ask", "cancel", "decide"), _MANAGER),
    **dict.fromkeys(("remove", "adopt", "reopen", "correct", "restore", "erase_person"), _MANAGER),
    **dict.fromkeys(("pause", "resume", "configure", "journal", "follow", "unfollow", "stop"), _CHANGED),
    **dict.fromkeys(
        ("delete", "delete_keys", "policy", "schema", "confirm", "dump", "load", "stopped"), _LEDGER
    ),
    **dict.fromkeys(("get", "items", "late_items", "person_items", "outcomes"), _READ),
    "mine": ("ledger", "items", "drafts"),
    "why_nothing": ("ledger", "items", "inbound", "reserved", "scheduled"),
    "waiting_rows": ("ledger", "inbound"),
    "stats": ("ledger", "inbound", "reserved", "scheduled", "finished", "dead"),
    "history": ("journal",),
    "dump_items": (*_READ, "drafts"),
    "load_items": _MANAGER,
}


class _Scripts(Mapping[str, Script]):
    """Joins each script at its first use: a program calls few of them, and joining all takes 0.1 s."""

    def __getitem__(self, name: str) -> Script:
        return load(name, *_KEYS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)


SCRIPTS: Final = _Scripts()

# Scripts whose writes may be lost: the clear job runs again anyway, a place in the waiting list is not a
# promise, a follower that is set back reads again, a queue whose deletion began no longer exists, and an
# interrupted restore starts again.
_UNCONFIRMED_SCRIPTS = {"clear", "check_alerts", "end_wait", "confirm", "follow", "unfollow", "delete_keys"}
_UNCONFIRMED_SCRIPTS |= {"load", "load_items"}


def is_confirmed(name: str) -> bool:
    """Whether the script's writes are confirmed according to the policy's ``durable``."""
    return name not in _UNCONFIRMED_SCRIPTS and SCRIPTS[name].writes
