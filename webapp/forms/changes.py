"""What was changed in a form, in words for the managers' log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from leaseq import Json

MOST = 12  # changes that are named; the rest is counted


def form_changes(before: Json, after: Json) -> list[str]:
    """Each change, such as ``question 'Urgent' added``."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ["form removed" if after is None else "form set"]
    found = [*_of_shown(before, after), *_of_questions(before, after)]
    if before.get("keys", {}) != after.get("keys", {}):
        found.append("keys changed")
    if not found:
        return ["form changed"]  # in what has no words here
    more = len(found) - MOST
    return [*found[:MOST], f"and {more} more changes"] if more > 0 else found


def _of_shown(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    was, now = (_shown(form) for form in (before, after))
    yield from _of_names("field", was, now, lambda name, _entry: name)


def _shown(form: Mapping[str, Any]) -> dict[str, Any]:
    return {str(one["field"] if isinstance(one, Mapping) else one): one for one in form.get("show") or []}


def _of_questions(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    was, now = (_questions(form) for form in (before, after))
    yield from _of_names("question", was, now, _title, _of_question)
    needed, needs = (set((form.get("ask") or {}).get("required", [])) for form in (before, after))
    for name in [name for name in now if name in was]:
        if (name in needed) != (name in needs):
            yield f"question {_title(name, now[name])!r} {'required' if name in needs else 'optional'}"
    rest, rest_now = (
        {
            key: value
            for key, value in (form.get("ask") or {}).items()
            if key not in ("properties", "required")
        }
        for form in (before, after)
    )
    if _differ(rest, rest_now):
        yield "rules of the answer changed"


def _questions(form: Mapping[str, Any]) -> dict[str, Any]:
    return dict((form.get("ask") or {}).get("properties") or {})


def _of_question(title: str, was: Any, now: Any) -> Iterator[str]:
    old, new = _options(was), _options(now)
    gone, come = ([one for one in a if one not in b] for a, b in ((old, new), (new, old)))
    for verb, options in (("added", come), ("removed", gone)):
        if options:
            yield f"{'option' if len(options) == 1 else 'options'} {_listed(options)} of {title!r} {verb}"
    if not gone and not come:
        yield f"question {title!r} changed"


def _options(question: Any) -> list[Any]:
    if not isinstance(question, Mapping):
        return []
    items = question.get("items")
    given = question.get("enum", items.get("enum", []) if isinstance(items, Mapping) else [])
    return list(given) if isinstance(given, Sequence) else []


def _of_names(
    kind: str,
    was: Mapping[str, Any],
    now: Mapping[str, Any],
    title: Callable[[str, Any], str],
    within: Callable[[str, Any, Any], Iterator[str]] | None = None,
) -> Iterator[str]:
    for name in now:
        if name not in was:
            yield f"{kind} {title(name, now[name])!r} added"
    for name in was:
        if name not in now:
            yield f"{kind} {title(name, was[name])!r} removed"
    kept = [name for name in was if name in now]
    for name in kept:
        if _differ(was[name], now[name]):
            said = title(name, now[name])
            yield from within(said, was[name], now[name]) if within else [f"{kind} {said!r} changed"]
    if kept != [name for name in now if name in was]:
        yield f"order of the {kind}s changed"


def _title(name: str, question: Any) -> str:
    title = question.get("title") if isinstance(question, Mapping) else None
    return title if isinstance(title, str) else name


def _listed(options: Sequence[Any]) -> str:
    return ", ".join(repr(one) for one in options[:5]) + (
        f" and {len(options) - 5} more" * (len(options) > 5)
    )


def _differ(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
