"""Checks of the arguments of calls: names, ids, numbers and JSON, before anything changes.

JSON is accepted as RFC 8259 defines it (I-JSON, RFC 7493, for numbers and keys): Python's own decoder also
accepts NaN, Infinity, integers of any length and repeated keys, which other programs read differently or
not at all.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from json.encoder import JSONEncoder
from typing import Any, NoReturn, TypeVar

from leaseq import names
from leaseq.checkpoints import checkpoint, with_checkpoints
from leaseq.errors import Invalid, TooLarge
from leaseq.models import Json, NewItem

MAX_JSON_BYTES = 262_144
MAX_JSON_DEPTH = 64
MAX_CONTAINERS = 100_000  # arrays and objects in JSON that is read: more than a payload has room for
MAX_ID = 200
MAX_PERSON = 64
MAX_SKILLS = 16
MAX_TEXT = 2_000
MAX_INTEGER_DIGITS = 308  # any integer of this length fits a double; Python itself refuses more than 4,300
MAX_PRIORITY = 1_000_000

_QUEUE = re.compile(r"[a-z0-9._-]{1,64}\Z")
_SEPARATOR = re.compile(r"[/\\]")  # of the segments of a path; browsers take a backslash for a slash
_SKILL = re.compile(r"[a-z0-9._-]{1,64}\Z")
_CONTAINERS = (dict, list, tuple)
_TEXT = {str}
# JSON of at most this length is not too deep, and contains no number that is too long.
_SHORT_LENGTH = 2 * MAX_JSON_DEPTH
_FEW = 4_096  # characters or values, which take less than a slice: no checkpoint is needed between them
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_DIGIT = re.compile(r"[0-9]")
Text = TypeVar("Text", bound=str)
_Encode = Callable[[Json, bool], Iterable[str]]


def _encoder() -> _Encode:
    """Called once, because JSONEncoder builds a new C encoder for each value, which takes three times as long
    as using it."""
    encoder = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    make = getattr(json.encoder, "c_make_encoder", None)  # CPython has it
    if make is None:
        return encoder.iterencode
    encode: _Encode = make(
        None, encoder.default, json.encoder.encode_basestring, None, ":", ",", False, False, False
    )
    return encode


_encode = _encoder()


def queue_name(name: object) -> str:
    if not isinstance(name, str) or not _QUEUE.match(name) or is_dot_segment(name):
        raise Invalid("queue", "format", what="queue_name", value=name)
    return name


def item_id(value: object, field: str = "id") -> str:
    """An item's id. Programs that put it into a path unescaped would reach another item if it had dot
    segments."""
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_ID or not value.isprintable():
        raise Invalid(field, "printable", minimum=1, maximum=MAX_ID, value=value)
    if "." in value and any(map(is_dot_segment, _SEPARATOR.split(value))):
        raise Invalid(field, "format", what="dot_segments", value=value)
    return _check_unicode(value, field)


def is_dot_segment(value: str) -> bool:
    """Whether HTTP clients remove this from a path as a dot segment, percent-encoded or not."""
    return value in (".", "..")


def person_name(value: object, field: str = "person") -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_PERSON or not value.isprintable():
        raise Invalid(field, "printable", minimum=1, maximum=MAX_PERSON, value=value)
    _check_visible(value, field)
    return _check_unicode(value, field)


def new_person_name(value: object, field: str = "person") -> str:
    """The name of a person who is added. It stands in the paths of pages and REST, where it must be one
    segment. People who are there already keep their names."""
    name = person_name(value, field)
    if is_dot_segment(name) or _SEPARATOR.search(name):
        raise Invalid(field, "format", what="person_name", value=name)
    return name


def label(value: object, field: str, max_length: int) -> str:
    """A name that people read, such as a queue's title, normalized for storage."""
    name = text(value, field, max_length)
    _check_visible(name, field)
    return names.normalize(name)


def text(value: object, field: str, max_length: int = MAX_TEXT) -> str:
    """Free text from a person: a reason, an error."""
    if not isinstance(value, str) or len(value) > max_length:
        raise Invalid(field, "text", maximum=max_length, value=value)
    return _check_unicode(value, field)


def integer(value: object, field: str, minimum: int, maximum: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
        raise Invalid(field, "range", minimum=minimum, maximum=maximum, value=value)
    return value


def one_of(value: object, choices: Sequence[Text], field: str) -> Text:
    for choice in choices:
        if value == choice:
            return choice
    raise Invalid(field, "one_of", choices=choices, value=value)


def as_integer(value: object) -> object:
    """An integral float as an int, since JSON has only one kind of number (5.0 is 5); any other value
    unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def number(value: object, field: str, minimum: float, maximum: float) -> float:
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or not minimum <= value <= maximum  # false for NaN, too
    ):
        raise Invalid(field, "number", minimum=minimum, maximum=maximum, value=value)
    return value


def boolean(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise Invalid(field, "format", what="boolean", value=value)
    return value


def skills(value: object, field: str = "skills") -> tuple[str, ...]:
    """The skills, sorted and without duplicates. Raises Invalid."""
    if value == ():
        return ()
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise Invalid(field, "format", what="skill_list", value=value)
    values = list(value)
    skill_names = sorted(set(values)) if all(isinstance(s, str) for s in values) else values
    if len(skill_names) > MAX_SKILLS or not all(isinstance(s, str) and _SKILL.match(s) for s in skill_names):
        raise Invalid(field, "format", what="skills", maximum=MAX_SKILLS, value=values)
    return tuple(skill_names)


def dump_json(value: Json, field: str) -> str:
    """``value`` as compact JSON text. Raises Invalid. The limit is in bytes of UTF-8."""
    try:
        text = "".join(_encode(value, False))
        if len(text) > _SHORT_LENGTH or not text.isascii():
            _check_size(text, value, field)
    except RecursionError:
        raise Invalid(field, "maximum", what="json_depth", maximum=MAX_JSON_DEPTH) from None
    except UnicodeEncodeError:
        raise Invalid(field, "format", what="surrogates") from None
    except (TypeError, ValueError) as error:
        raise _no_json(value, field, error) from None
    # The usual case, one object with only text keys, needs no further check.
    if isinstance(value, _CONTAINERS) and (text.find("{", 1) > 0 or set(map(type, value)) != _TEXT):
        _check_keys(_containers(value), field)
    return text


def _no_json(value: object, field: str, error: Exception) -> Invalid:
    if value is ...:
        return Invalid(field, "required")
    if isinstance(value, NewItem):
        return Invalid(field, "json", what="new_item")
    return Invalid(field, "json", what="values", why=str(error))


def _check_size(text: str, value: Json, field: str) -> None:
    size = len(text.encode())
    if size > MAX_JSON_BYTES:
        raise TooLarge(field, "maximum", what="json_bytes", maximum=MAX_JSON_BYTES, count=size)
    if text.count("{") + text.count("[") > MAX_JSON_DEPTH:  # otherwise it can't be too deep
        check_depth(value, field)
    if len(text) > MAX_INTEGER_DIGITS:
        _check_integers(text, value, field)


def load_json(raw: bytes | str, field: str = "body") -> Json:
    """Parse JSON from outside; refuse what two parsers would read differently."""
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        raise Invalid(field, "json", what="utf8", at=error.start) from None
    # Python's decoder has no hook for arrays, so nothing else runs while it reads a million of them.
    if _count_brackets(text) > MAX_CONTAINERS and _count_brackets(_STRING.sub("", text)) > MAX_CONTAINERS:
        raise TooLarge(field, "maximum", what="json_containers", maximum=MAX_CONTAINERS)
    try:
        is_short = len(text) <= _FEW
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_integer if is_short else _parse_int,
            parse_float=float if is_short else _parse_float,
            object_pairs_hook=_members if is_short else _parse_object,
        )
    except Invalid as error:
        raise error.at(field) from None
    except RecursionError:
        raise Invalid(field, "maximum", what="json_depth", maximum=MAX_JSON_DEPTH) from None
    except ValueError as error:
        raise Invalid(field, "json", what="syntax", at=getattr(error, "pos", 0) + 1) from None
    check_depth(value, field)
    return value


def is_valid(check: Callable[..., object], *values: object) -> bool:
    """Whether a check accepts these values, instead of raising Invalid."""
    try:
        check(*values)
    except Invalid:
        return False
    return True


def _count_brackets(text: str) -> int:
    return text.count("[") + text.count("{") if len(text) > MAX_CONTAINERS else 0


def is_same_json(value: Json, other: Json) -> bool:
    """Whether two values are the same JSON: 1 and 1.0 are one number, and true is another value, although
    Python finds the three equal. The order of keys does not matter."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(is_same_json(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(is_same_json, value, other))
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def check_depth(value: Json, field: str) -> None:
    """Refuse JSON nested deeper than MAX_JSON_DEPTH, and numbers that no double holds, without recursion."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        children: list[Any] = []
        for node in level if len(level) <= _FEW else with_checkpoints(level):
            if isinstance(node, dict):
                children += node.values()
            elif isinstance(node, list | tuple):
                children += node
            elif isinstance(node, float) and not math.isfinite(node):
                raise Invalid(field, "json", what="double")
        if not children:
            return
        level = children
    raise Invalid(field, "maximum", what="json_depth", maximum=MAX_JSON_DEPTH)


def _check_keys(levels: Sequence[Any], field: str) -> None:
    """Refuse keys that are not text: the encoder turns them into text, and two could become equal."""
    for level in levels if len(levels) <= _FEW else with_checkpoints(levels):
        if isinstance(level, dict):
            for key in level:
                if not isinstance(key, str):
                    raise Invalid(field, "json", what="text_keys", key=f"{key!r:.50}")


def _check_integers(text: str, value: Json, field: str) -> None:
    """Refuse what ``load_json`` refuses. An integer that is too long fills a block of half as many digits."""
    half = MAX_INTEGER_DIGITS // 2
    begins = (digit.start() * half for digit in _DIGIT.finditer(text[::half]))
    if not any(text[begin : begin + half].isdigit() for begin in begins):
        return
    values = (node for level in _containers([value]) for node in _children(level))
    if any(isinstance(node, int) and abs(node) >= 10**MAX_INTEGER_DIGITS for node in values):
        raise Invalid(field, "maximum", what="json_digits", maximum=MAX_INTEGER_DIGITS)


def _containers(value: Json) -> list[Any]:
    """Every object and array in a value, beginning with itself."""
    containers = [value] if isinstance(value, _CONTAINERS) else []
    for node in with_checkpoints(containers):
        containers += [child for child in _children(node) if isinstance(child, _CONTAINERS)]
    return containers


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid("json", "json", what="constant", name=name)


def _integer(digits: str) -> int:
    if len(digits) - digits.startswith("-") > MAX_INTEGER_DIGITS:
        raise Invalid("json", "maximum", what="json_digits", maximum=MAX_INTEGER_DIGITS)
    return int(digits)


def _parse_int(digits: str) -> int:
    checkpoint()
    return _integer(digits)


def _parse_float(text: str) -> float:
    checkpoint()
    return float(text)


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    checkpoint()
    return _members(pairs)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys: set[str] = set()
        repeated_key = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise Invalid("json", "json", what="keys", name=repeated_key)
    return members


def _check_visible(value: str, field: str) -> None:
    character = None if value.isascii() and value.isprintable() else names.find_invisible(value)
    if character is not None:
        raise Invalid(field, "visible", character=character)


def _check_unicode(value: str, field: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(field, "format", what="surrogates") from None
    return value


def rfc3339(time: datetime) -> str:
    """Format an aware time, in UTC with milliseconds: ``2026-11-21T10:05:00.123Z``."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
