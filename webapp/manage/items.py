"""The list of a queue's items: search, pages, selection."""

from __future__ import annotations

import json
from functools import partial
from urllib.parse import urlencode

from flask import render_template, request, url_for

import leaseq
from leaseq import Invalid, ItemNotFound, Json
from leaseq.webapp.context import accounts, existing_queue
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.actions import moves_on, name_of
from leaseq.webapp.manage.search import list_names, outcome_names, search_of, since_names
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole

PAGE = 50
GLIMPSE = 120  # characters of a payload that a line shows
LOOKS = 10_000  # entries of a list that one request scans for matches


@bp.get("/manage/<q>/items")
@needs("manager")
def items(q: str) -> str | tuple[str, int]:
    queue = existing_queue(q)
    try:
        search, wrong = search_of(request.args), None
        page = search.page(queue, limit=PAGE, look=LOOKS, after=request.args.get("after") or None)
    except Invalid as refused:
        if refused.field in ("state", "after"):
            raise
        search, wrong = search_of({"state": request.args.get("state", "")}), refused
        page = leaseq.Page((), None)
    before = whole(request.args.get("looked")) or 0
    shown = render_template(
        "manage/items.html",
        queue=queue,
        policy=queue.policy,
        stats=queue.stats(),
        search=search,
        typed=request.args if wrong else search.typed,
        wrong=wrong,
        glimpse=glimpse,
        query=urlencode(search.args()),
        exactly=_exactly(queue, search.typed.get("begins", "")),
        page=page,
        looked=before + page.scanned,
        here=partial(url_for, "manage.items", q=q, **search.args()),
        lists=list_names(),
        since=since_names()[search.state],
        outcomes=outcome_names(),
        moves=[(move, name_of(move)) for move in moves_on(search.state)],
        people=[one.name for one in accounts().people()],
    )
    return (shown, 400) if wrong else shown


def glimpse(payload: Json) -> str:
    """The beginning of a payload in one line: its fields without JSON punctuation."""
    if isinstance(payload, dict):
        return _cut(" · ".join(f"{name}: {_cut(_line(value))}" for name, value in [*payload.items()][:9]))
    return _cut(_line(payload))


def _line(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= GLIMPSE else f"{text[:GLIMPSE]}…"


def _exactly(queue: leaseq.Queue, id: str) -> leaseq.Item | None:
    """The item of just this id, in whatever state it is."""
    try:
        return queue.get(id) if id else None
    except (Invalid, ItemNotFound):
        return None
