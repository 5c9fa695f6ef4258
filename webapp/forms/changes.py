"""The changes of a form, in words for the audit log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from leaseq import Json

MAX_CHANGES = 12  # changes named; the rest is counted


def form_changes(before: Json, after: Json) -> list[str]:
    """Each change, such as ``question 'Urgent' added``."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ["form removed" if after is None else "form set"]
    changes = [*_field_changes(before, after), *_question_changes(before, after)]
    if before.get("keys", {}) != after.get("keys", {}):
        changes.append("keys changed")
    if not changes:
        return ["form changed"]  # in parts not described here
    rest_count = len(changes) - MAX_CHANGES
    return [*changes[:MAX_CHANGES], f"and {rest_count} more changes"] if rest_count > 0 else changes


def _field_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old_fields, new_fields = (_fields(form) for form in (before, after))
    yield from _name_changes("field", old_fields, new_fields, lambda name, _entry: name)


def _fields(form: Mapping[str, Any]) -> dict[str, Any]:
    return {str(one["field"] if isinstance(one, Mapping) else one): one for one in form.get("show") or []}


def _question_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = (_questions(form) for form in (before, after))
    yield from _name_changes("question", old, new, _title, _option_changes)
    old_required, new_required = (
        set((form.get("ask") or {}).get("required", [])) for form in (before, after)
    )
    for name in [name for name in new if name in old]:
        if (name in old_required) != (name in new_required):
            yield f"question {_title(name, new[name])!r} {'required' if name in new_required else 'optional'}"
    old_rules, new_rules = (
        {
            key: value
            for key, value in (form.get("ask") or {}).items()
            if key not in ("properties", "required")
        }
        for form in (before, after)
    )
    if _differ(old_rules, new_rules):
        yield "rules of the answer changed"


def _questions(form: Mapping[str, Any]) -> dict[str, Any]:
    return dict((form.get("ask") or {}).get("properties") or {})


def _option_changes(title: str, old: Any, new: Any) -> Iterator[str]:
    old_options, new_options = _options(old), _options(new)
    removed_options = [one for one in old_options if one not in new_options]
    added_options = [one for one in new_options if one not in old_options]
    for verb, options in (("added", added_options), ("removed", removed_options)):
        if options:
            noun = "option" if len(options) == 1 else "options"
            yield f"{noun} {_list_options(options)} of {title!r} {verb}"
    if not removed_options and not added_options:
        yield f"question {title!r} changed"


def _options(question: Any) -> list[Any]:
    if not isinstance(question, Mapping):
        return []
    items = question.get("items")
    options = question.get("enum", items.get("enum", []) if isinstance(items, Mapping) else [])
    return list(options) if isinstance(options, Sequence) else []


def _name_changes(
    kind: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    title: Callable[[str, Any], str],
    describe: Callable[[str, Any, Any], Iterator[str]] | None = None,
) -> Iterator[str]:
    for name in new:
        if name not in old:
            yield f"{kind} {title(name, new[name])!r} added"
    for name in old:
        if name not in new:
            yield f"{kind} {title(name, old[name])!r} removed"
    names = [name for name in old if name in new]
    for name in names:
        if _differ(old[name], new[name]):
            label = title(name, new[name])
            yield from describe(label, old[name], new[name]) if describe else [f"{kind} {label!r} changed"]
    if names != [name for name in new if name in old]:
        yield f"order of the {kind}s changed"


def _title(name: str, question: Any) -> str:
    title = question.get("title") if isinstance(question, Mapping) else None
    return title if isinstance(title, str) else name


def _list_options(options: Sequence[Any]) -> str:
    return ", ".join(repr(one) for one in options[:5]) + (
        f" and {len(options) - 5} more" * (len(options) > 5)
    )


def _differ(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
