"""JSON Schema with bounds: the size of a schema, and the time of its patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import jsonschema_rs

from leaseq.checkpoints import checkpoint, with_checkpoints
from leaseq.errors import Invalid
from leaseq.validation import MAX_JSON_DEPTH

MAX_SIZE = 100_000
"""The maximum size of one compiled pattern, in bytes."""

MAX_TOTAL_SIZE = 2_000_000
"""The maximum of the sizes of a form's patterns together."""

MAX_NANOSECONDS = 25_000_000
"""The maximum time for matching a result's texts, by the costs below. One that doesn't fit is matched
twice."""

OPTIONS = jsonschema_rs.RegexOptions(size_limit=MAX_SIZE)

_UNLIMITED = jsonschema_rs.RegexOptions(size_limit=1_000 * MAX_SIZE)
_COSTS = {1_000: 25, 3_000: 500, 10_000: 1_000, 20_000: 1_600, 50_000: 3_600, MAX_SIZE: 13_400}
"""Nanoseconds for a character, by the pattern's size: the slowest of 16 families of patterns on six texts."""


@dataclass(frozen=True, slots=True)
class MatchCosts:
    """The cost of matching a form's patterns on a result, in nanoseconds per character of its JSON."""

    shared: int = 0  # of the patterns that apply to the whole result
    by_question: Mapping[str, int] = field(default_factory=dict)  # of those that apply to one answer

    def max_length(self, name: str) -> int:
        """The maximum length of an answer, in characters of JSON, if all others are short."""
        return MAX_NANOSECONDS // max(1, self.shared + self.by_question.get(name, 0))

    def question_too_long(self, lengths: Mapping[str, int]) -> str | None:
        """The most expensive answer, by the length of each, if matching all of them costs too much."""
        costs = {
            name: length * (self.shared + self.by_question.get(name, 0)) for name, length in lengths.items()
        }
        if sum(costs.values()) <= MAX_NANOSECONDS:
            return None
        return max(costs, key=lambda name: costs[name])


def patterns_in(schema: Mapping[str, Any]) -> Iterator[str]:
    """The patterns of one subschema, without those of the subschemas in it."""
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    members = schema.get("patternProperties")
    if isinstance(members, dict):
        yield from members


@lru_cache(maxsize=4_096)
def size_of(pattern: str) -> int:
    """The size of a compiled pattern, rounded up to one of the sizes with a measured cost. Raises Invalid if
    it is too large, or not a pattern."""
    checkpoint()
    for size in _COSTS:
        if _compiles(pattern, jsonschema_rs.RegexOptions(size_limit=size)):
            return size
    if _compiles(pattern, _UNLIMITED):
        raise Invalid(
            "form", "form_too_large", what="pattern", maximum=MAX_SIZE, place="", pattern=pattern[:80]
        )
    raise Invalid("form", "form_schema", what="pattern", place="", pattern=pattern[:80])


def _compiles(pattern: str, options: jsonschema_rs.RegexOptions) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True


MAX_SUBSCHEMAS = 5_000
"""The maximum number of subschemas, with each reference replaced by its target, to a depth of PAGE_LEVELS."""

MAX_CHECKS = 1_000
"""The maximum number of subschemas applied to one value of a result and to the values that contain it."""

PAGE_LEVELS = 8  # the depth to which pages and simulated people follow references

_SAME_VALUE = ("not", "if", "then", "else")  # applied to the same value
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_MAPS = ("dependentSchemas", "dependencies")
_ANY_MEMBER = (  # applied to any of the value's members or items
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
)
_UNEVALUATED = 3  # how often jsonschema-rs evaluates the siblings of unevaluatedProperties


@dataclass(slots=True)
class _Node:
    """A subschema: the numbers of its own subschemas, by the value that they are applied to."""

    same_value: list[int] = field(default_factory=list)  # applied to the same value
    each_member: list[int] = field(default_factory=list)  # each applied to a different member or item
    any_member: list[int] = field(default_factory=list)  # applied to any of the members or items
    times: int = 1  # how often ``same_value`` is applied
    match_cost: int = 0  # of its own patterns


@dataclass(frozen=True, slots=True)
class SchemaSize:
    """The most work that a schema can be for one result."""

    checks: int  # subschemas that can be applied to one value
    match_costs: MatchCosts


def measure(schema: dict[str, Any]) -> SchemaSize:
    """Measure a schema. Raises Invalid if it is over a limit."""
    nodes = _nodes(schema)
    try:
        graph = {number: node.same_value for number, node in nodes.items()}
        order = list(TopologicalSorter(graph).static_order())
    except CycleError:
        raise Invalid("form", "form_schema", what="cycle") from None
    root = id(schema)
    checks = _totals(nodes, order, _largest, MAX_JSON_DEPTH, MAX_CHECKS)[root]
    if checks > MAX_CHECKS:
        raise Invalid("form", "form_too_large", what="checks", maximum=MAX_CHECKS)
    if _totals(nodes, order, sum, PAGE_LEVELS, MAX_SUBSCHEMAS)[root] > MAX_SUBSCHEMAS:
        raise _too_many_subschemas()
    return SchemaSize(checks, _match_costs(schema, nodes, order))


def _match_costs(schema: dict[str, Any], nodes: dict[int, _Node], order: Iterable[int]) -> MatchCosts:
    own_costs = {number: node.match_cost for number, node in nodes.items()}
    if not any(own_costs.values()):
        return MatchCosts()
    costs = _totals(nodes, order, _largest, MAX_JSON_DEPTH, MAX_NANOSECONDS, own_costs)
    root = nodes[id(schema)]
    shared = root.match_cost + root.times * sum(costs[schema] for schema in root.same_value)
    shared += sum(costs[member] for member in root.any_member)
    properties = schema.get("properties")
    questions = properties.items() if isinstance(properties, dict) else ()
    return MatchCosts(
        shared, {name: costs[id(question)] for name, question in questions if isinstance(question, dict)}
    )


def _largest(counts: Iterator[int]) -> int:
    return max(counts, default=0)


def _too_many_subschemas() -> Invalid:
    return Invalid("form", "form_too_large", what="subschemas", maximum=MAX_SUBSCHEMAS)


def _totals(
    nodes: dict[int, _Node],
    order: Iterable[int],
    add: Callable[[Iterator[int]], int],
    levels: int,
    limit: int,
    own: Mapping[int, int] | None = None,
) -> dict[int, int]:
    """The count of each subschema with those that it applies, for values nested up to ``levels`` deep.
    ``add`` combines the counts of different members. ``order``: the subschemas, each after those that it
    applies to the same value. ``own``: what each counts itself, by default 1."""
    deeper_counts = dict.fromkeys(nodes, 0)
    for _ in range(levels):
        counts: dict[int, int] = {}
        for number in order:
            checkpoint()
            node = nodes[number]
            total = (1 if own is None else own[number]) + node.times * sum(
                counts[schema] for schema in node.same_value
            )
            total += add(deeper_counts[member] for member in node.each_member)
            total += sum(deeper_counts[member] for member in node.any_member)
            counts[number] = min(total, limit + 1)
        if counts == deeper_counts:
            break
        deeper_counts = counts
    return deeper_counts


def _nodes(root: dict[str, Any]) -> dict[int, _Node]:
    """Every subschema that is reachable from the root, the root first."""
    references = _References(root)
    nodes = {id(root): _Node()}
    pattern_bytes = 0
    unvisited = [root]
    while unvisited:
        checkpoint()
        schema = unvisited.pop()
        node = nodes[id(schema)]
        try:
            pattern_bytes += sum(map(size_of, patterns_in(schema)))
        except Invalid as error:
            raise Invalid("form", error.rule, **{**error.values, "place": _place_of(schema, root)}) from None
        if pattern_bytes > MAX_TOTAL_SIZE:
            place = _place_of(schema, root)
            raise Invalid("form", "form_too_large", what="patterns", maximum=MAX_TOTAL_SIZE, place=place)
        node.match_cost = sum(_COSTS[size_of(pattern)] for pattern in patterns_in(schema))
        node.times = _UNEVALUATED if {"unevaluatedProperties", "unevaluatedItems"} & schema.keys() else 1
        for numbers, children in (
            (node.same_value, [*_same_value_schemas(schema), *references.targets(schema)]),
            (node.each_member, [*_values(schema.get("properties")), *_values(schema.get("prefixItems"))]),
            (
                node.any_member,
                [*(schema.get(word) for word in _ANY_MEMBER), *_values(schema.get("patternProperties"))],
            ),
        ):
            for child in children:
                if not isinstance(child, dict):
                    continue  # true or false
                numbers.append(id(child))
                if id(child) not in nodes:
                    nodes[id(child)] = _Node()
                    unvisited.append(child)
        if len(nodes) > MAX_SUBSCHEMAS:
            raise _too_many_subschemas()
    return nodes


def _place_of(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """The place of a subschema, as the names of the questions and parts around it."""
    places: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    for value, place in places:
        if value is schema:
            return "".join(f"{name}: " for name in place)
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        places += [
            (step, place if name == "properties" else (*place, str(name)))
            for name, step in steps
            if isinstance(step, dict | list)
        ]
    return ""


def _same_value_schemas(schema: dict[str, Any]) -> Iterator[Any]:
    yield from (schema.get(word) for word in _SAME_VALUE)
    for word in (*_SAME_VALUE_LISTS, *_SAME_VALUE_MAPS):
        yield from _values(schema.get(word))


def _values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


class _References:
    """The targets of a schema's references. All must be inside the schema."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._bases: dict[int, str] = {}
        self._by_id: dict[str, Any] = {"": root}  # by $id, and by $id#anchor
        self._dynamic_anchors: dict[str, list[Any]] = {}
        unvisited: list[tuple[Any, str]] = [(root, "")]
        for value, base in with_checkpoints(unvisited):
            inner = self._register(value, base) if isinstance(value, dict) else base
            unvisited += [(member, inner) for member in _values(value) if isinstance(member, dict | list)]

    def _register(self, value: dict[str, Any], base: str) -> str:
        if isinstance(value.get("$id"), str):
            base = urldefrag(urljoin(base, value["$id"])).url
            self._by_id[base] = value
        for word in ("$anchor", "$dynamicAnchor"):
            if isinstance(value.get(word), str):
                self._by_id[f"{base}#{value[word]}"] = value
        if isinstance(value.get("$dynamicAnchor"), str):
            self._dynamic_anchors.setdefault(value["$dynamicAnchor"], []).append(value)
        self._bases[id(value)] = base
        return base

    def targets(self, schema: dict[str, Any]) -> Iterator[Any]:
        base = self._bases[id(schema)]
        for word in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(word)
            if isinstance(reference, str):
                yield self._target(base, reference)
        if isinstance(schema.get("$dynamicRef"), str):
            yield from self._dynamic_anchors.get(urldefrag(schema["$dynamicRef"]).fragment, ())

    def _target(self, base: str, reference: str) -> Any:
        target = base + reference if reference.startswith("#") else urljoin(base, reference)
        uri, _, fragment = target.partition("#")
        if fragment and not fragment.startswith("/"):
            schema = self._by_id.get(target)
        else:
            schema = self._by_id.get(uri)
            for step in unquote(fragment).split("/")[1:]:
                schema = _step(schema, step.replace("~1", "/").replace("~0", "~"))
        if not isinstance(schema, dict | bool):
            raise Invalid("form", "form_schema", what="reference", reference=reference[:100])
        return schema


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
        return value[int(name)]
    return None
