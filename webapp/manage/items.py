"""The list of a queue's items: search, pages, columns, selection."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.forms import fields_of
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.actions import moves_for, name_of
from leaseq.webapp.manage.columns import columns_of, offered_columns, payload_summaries
from leaseq.webapp.search.criteria import (
    ANY,
    Search,
    criteria_of,
    list_names,
    outcome_names,
    search_of,
    since_names,
)
from leaseq.webapp.search.matching import Part, condition, in_terms_of, words_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import people_of
from leaseq.webapp.serving.numbers import whole_number

PAGE = 50
QUESTION = "is."  # prefix of the names of filters on questions
SCAN_LIMIT = 10_000  # entries of a list that a request scans for matches


@bp.get("/manage/<q>/items")
@needs("manager")
def items(q: str) -> str | Response | tuple[str, int]:
    queue = existing_queue(q)
    try:
        search, field_error = search_of(request.args, queue.policy.form), None
        if conditions := _question_conditions():
            questions = fields_of(queue.policy.form)
            find = words_of((*search.parts, *in_terms_of(tuple(conditions), questions)))
            return redirect(url_for("manage.items", q=q, **{**search.args(), "find": find}))
        page = search.page(queue, limit=PAGE, look=SCAN_LIMIT, after=request.args.get("after") or None)
    except Invalid as error:
        if error.field in ("state", "after"):
            raise
        search, field_error = search_of({"state": request.args.get("state", "")}), error
        page = leaseq.Page((), None)
    scanned_before = whole_number(request.args.get("scanned")) or 0
    policy, lists, stats = queue.policy, state().lists.get(q), queue.stats()
    columns = columns_of(policy.form, lists.columns, search.state)
    html = render_template(
        "manage/items.html",
        queue=queue,
        policy=policy,
        stats=stats,
        total_count=_total(search, stats),
        search=search,
        form_values=request.args if field_error else search.typed,
        field_error=field_error,
        query=urlencode(search.args()),
        exact_match=_find_item(queue, search.single_word or search.typed.get("begins", "")),
        page=page,
        scanned_count=scanned_before + page.scanned,
        page_url=partial(url_for, "manage.items", q=q, **search.args()),
        url_without=lambda name: url_for("manage.items", q=q, **search.args_without(name)),
        criteria=criteria_of(search),
        questions=[field for field in fields_of(policy.form) if field.choices or _is_number(field)],
        list_names=list_names(),
        since_label=since_names()[search.state],
        outcome_names=outcome_names(),
        move_names=[(move, name_of(move)) for move in moves_for(search.state)],
        people=[account.name for account in people_of(queue.name)],
        columns=columns,
        payload_summaries={} if columns else payload_summaries(page.items),
        offered_columns=offered_columns(policy.form, page.items, lists.columns),
        chosen_columns=lists.columns,
        saved_searches=[(name, _view(q, text)) for name, text in lists.views.items()],
    )
    return (html, 400) if field_error else html


def _total(search: Search, stats: leaseq.Stats) -> int | None:
    """The number of entries to search; None for the list by due date, which is not counted."""
    if search.state == "due":
        return None
    states = leaseq.STATES if search.state == ANY else (search.state,)
    return sum(int(getattr(stats, one)) for one in states)


def _question_conditions() -> list[Part]:
    """The conditions on the form's questions, chosen next to the search box."""
    return [
        condition(name.removeprefix(QUESTION), text.strip())
        for name, text in request.args.items()
        if name.startswith(QUESTION) and text.strip()
    ]


def _is_number(field: Any) -> bool:
    return field.kind in ("number", "integer")


def _view(q: str, query: str) -> str:
    values: dict[str, Any] = dict(parse_qsl(query))
    return url_for("manage.items", q=q, **values)


def _find_item(queue: leaseq.Queue, id: str) -> leaseq.Item | None:
    """The item with exactly this id, in any state."""
    try:
        return queue.get(id) if id else None
    except (Invalid, ItemNotFound):
        return None
