"""Limits the size of a JSON Schema with its references followed, before it is compiled.

Through references, a few lines of schema can mean millions of checks of one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from leaseq.checkpoints import checkpoint, with_checkpoints
from leaseq.validation import MAX_JSON_DEPTH

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


def count_checks(schema: dict[str, Any]) -> int:
    """The number of subschemas that can be applied to one value. Raises ValueError if that number or the
    total is over its limit."""
    nodes = _nodes(schema)
    try:
        graph = {number: node.same_value for number, node in nodes.items()}
        order = list(TopologicalSorter(graph).static_order())
    except CycleError:
        raise ValueError(
            "no references that lead back to the same value of a result: point into a property or an item"
        ) from None
    checks = _total(nodes, order, lambda counts: max(counts, default=0), MAX_JSON_DEPTH, MAX_CHECKS)
    if checks > MAX_CHECKS:  # guard: checks-limit
        raise ValueError(
            f"references and rules that check one value at most {MAX_CHECKS:,} times; "
            "these check it more often"
        )
    if _total(nodes, order, sum, PAGE_LEVELS, MAX_SUBSCHEMAS) > MAX_SUBSCHEMAS:  # guard: subschemas-limit
        raise _too_many_subschemas()
    return checks


def _too_many_subschemas() -> ValueError:
    return ValueError(f"at most {MAX_SUBSCHEMAS:,} subschemas with all references followed; this has more")


def _total(
    nodes: dict[int, _Node],
    order: Iterable[int],
    add: Callable[[Iterator[int]], int],
    levels: int,
    limit: int,
) -> int:
    """The root's count, for values nested up to ``levels`` deep. ``add`` combines the counts of different
    members. ``order``: the subschemas, each after those that it applies to the same value."""
    deeper_counts = dict.fromkeys(nodes, 0)
    for _ in range(levels):
        counts: dict[int, int] = {}
        for number in order:
            checkpoint()
            node = nodes[number]
            total = 1 + node.times * sum(counts[one] for one in node.same_value)
            total += add(deeper_counts[one] for one in node.each_member)
            total += sum(deeper_counts[one] for one in node.any_member)
            counts[number] = min(total, limit + 1)
        if counts == deeper_counts:
            break
        deeper_counts = counts
    return deeper_counts[next(iter(nodes))]


def _nodes(root: dict[str, Any]) -> dict[int, _Node]:
    """Every subschema that is reachable from the root, the root first."""
    references = _References(root)
    nodes = {id(root): _Node()}
    unvisited = [root]
    while unvisited:
        checkpoint()
        schema = unvisited.pop()
        node = nodes[id(schema)]
        # guard: unevaluated-times
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


def _same_value_schemas(schema: dict[str, Any]) -> Iterator[Any]:
    yield from (schema.get(word) for word in _SAME_VALUE)
    for word in (*_SAME_VALUE_LISTS, *_SAME_VALUE_MAPS):
        yield from _values(schema.get(word))


def _values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


class _References:
    """Finds the targets of a schema's references. All must be inside the schema."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._bases: dict[int, str] = {}
        self._by_id: dict[str, Any] = {"": root}  # by $id, and by $id#anchor
        self._dynamic_anchors: dict[str, list[Any]] = {}
        unvisited: list[tuple[Any, str]] = [(root, "")]
        for value, base in with_checkpoints(unvisited):
            inner = self._register(value, base) if isinstance(value, dict) else base
            unvisited += [(one, inner) for one in _values(value) if isinstance(one, dict | list)]

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
        if not isinstance(schema, dict | bool):  # guard: remote-ref
            raise ValueError(f"references to places in the form itself ({reference:.100} is not one)")
        return schema


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
        return value[int(name)]
    return None
