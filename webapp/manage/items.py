"""The lists of items, their saved views, and the panel with one of the items."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlencode

from flask import flash, redirect, render_template, request, url_for
from flask_babel import format_decimal, ngettext
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, Item, ItemNotFound, Json
from leaseq.names import find_lookalike
from leaseq.webapp.context import existing_queue, form_of, queue_names, state
from leaseq.webapp.forms.fields import fields_of, titles_of
from leaseq.webapp.forms.parsing import NUMBERS
from leaseq.webapp.item_title import is_titled_by, item_title
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.bulk.moves import moves_for
from leaseq.webapp.realtime.attention import end_reason
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.filters import is_files, plain
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.search.criteria import (
    ANY,
    COMPARED,
    Search,
    criteria_of,
    list_names,
    outcome_names,
    search_of,
    since_names,
)
from leaseq.webapp.search.matching import Part, at_path, condition, in_terms_of, words_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services.queues import people_of
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.store.threads import Message


def warn_of_lookalike(queue: leaseq.Queue, title: str) -> None:
    """Flash a warning if another queue has a title that looks like this one."""
    titles, _errors = leaseq.read_queues(
        state().client, lambda queue: queue.policy.title, queue_names("manage")
    )
    for name, other_title in titles.items():
        if name != queue.name and title and (other_title == title or find_lookalike(title, [other_title])):
            flash(
                _(
                    "The title looks like that of %(queue)s: people may confuse the two.",
                    queue=name,
                )
            )
            return


ANSWER = "answer."  # prefix of the names of answer columns
MAX_OFFERED = 40
SHOWN_ANSWERS = 2  # default columns of a list of finished items
GUESSED = {"dead": 1, "due": 2, ANY: 2}  # default columns, where there is room for fewer than three
SUMMARY_LENGTH = 120  # characters of a value that a row shows
SUMMARY_FIELDS = 9  # fields of a payload
_SHORT = 40  # characters of a value for a column that nobody chose
_LINKS = ("http://", "https://", "data:")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    title: str
    is_guessed: bool = False  # nobody chose it: it may be left out where there is no room

    def text(self, item: Item) -> str:
        """The item's text in this column; for several answers, each distinct one."""
        if not self.name.startswith(ANSWER):
            return _value_text(at_path(item.payload, self.name.split(".")))
        path = self.name.removeprefix(ANSWER).split(".")
        texts = (_value_text(at_path(answer.result, path)) for answer in item.answers)
        return " / ".join(dict.fromkeys(filter(None, texts)))


def columns_of(form: Json, names: Sequence[str], state: str, items: Sequence[Item]) -> list[Column]:
    """The columns with these names. Without names: for a list of finished items the first answers, and short
    values of the payload."""
    titles, is_guessed = _titles(form, items), not names
    if not names:
        names = _first_answers(form, items) if state == "finished" else []
        names = [*_short_fields(form, items)[: GUESSED.get(state, 3) - len(names)], *names]
    return [Column(name, titles.get(name, name.removeprefix(ANSWER)), is_guessed) for name in names]


def _first_answers(form: Json, items: Iterable[Item]) -> list[str]:
    """The first questions of these items' forms, before others those that most of them were asked."""
    fields = (fields_of(form if item.form is None else item.form)[:SHOWN_ANSWERS] for item in items)
    counts = Counter(field.name for first_fields in fields for field in first_fields)
    return [ANSWER + name for name, _count in counts.most_common(SHOWN_ANSWERS)]


def _short_fields(form: Json, items: Sequence[Item]) -> list[str]:
    """The fields that have a short value in most of these items, and are not their titles: of those that the
    form shows, else of all."""
    payloads = [item.payload for item in items if isinstance(item.payload, dict)]
    all_names = dict.fromkeys(name for payload in payloads for name in list(payload)[:MAX_OFFERED])
    shown_names = [name for name in _shown_fields(form) if _is_mostly_short(name, items)]
    return shown_names or [name for name in all_names if _is_mostly_short(name, items)]


def _is_mostly_short(name: str, items: Sequence[Item]) -> bool:
    values = ((item, at_path(item.payload, name.split("."))) for item in items)
    count = sum(
        _is_short(value) and not is_titled_by(value, item_title(item.payload, item.id))
        for item, value in values
    )
    return 2 * count > len(items)


def _is_short(value: Json) -> bool:
    if isinstance(value, str):
        return 0 < len(value.strip()) <= _SHORT and "\n" not in value and not value.startswith(_LINKS)
    return isinstance(value, int | float)


def offered_columns(form: Json, items: Sequence[Item], column_names: Sequence[str]) -> list[Column]:
    """The columns on offer: the current ones, the fields of these items, and the questions of the form and of
    their own ones."""
    names = dict.fromkeys(column_names)
    for item in items:
        names |= dict.fromkeys(islice(item.payload if isinstance(item.payload, dict) else (), MAX_OFFERED))
    titles = _titles(form, items)
    names |= {name: None for name in titles if name.startswith(ANSWER)}
    return [Column(name, titles.get(name, name)) for name in list(names)[:MAX_OFFERED]]


def payload_summary(payload: Json, title: str = "") -> str:
    """The beginning of a payload in one line: its fields without JSON punctuation, except the one that is
    the title."""
    if isinstance(payload, dict):
        fields = [*payload.items()][:SUMMARY_FIELDS]
        rest = (
            f"{name}: {_shorten(_line(value))}" for name, value in fields if not is_titled_by(value, title)
        )
        return _shorten(" · ".join(rest))
    return "" if is_titled_by(payload, title) else _shorten(_line(payload))


def _titles(form: Json, items: Iterable[Item]) -> dict[str, str]:
    """By column, the titles of the form's questions and shown fields, then of others of items' own forms."""
    titles: dict[str, str] = {}
    for asked_form in (form, *(item.form for item in items if item.form is not None)):
        answers = {ANSWER + name: title for name, title in titles_of(asked_form).items()}
        for name, title in (_shown_fields(asked_form) | answers).items():
            titles.setdefault(name, title)
    return titles


def _shown_fields(form: Json) -> dict[str, str]:
    """The labels of the fields that the form shows, by field."""
    entries = form.get("show") if isinstance(form, dict) else None
    labels: dict[str, str] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            labels[entry] = entry
        elif isinstance(entry, dict) and "field" in entry:
            labels[entry["field"]] = entry.get("label") or entry["field"]
    return labels


def _value_text(value: Json) -> str:
    return "" if value is None else _shorten(_line(value))


def _line(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        return ", ".join(value)
    if isinstance(value, str | bool):
        return plain(value)
    if isinstance(value, list) and is_files(value):
        return ", ".join(file["name"] for file in value)
    return json.dumps(value, ensure_ascii=False)


def _shorten(text: str) -> str:
    return text if len(text) <= SUMMARY_LENGTH else f"{text[:SUMMARY_LENGTH]}…"


@bp.post("/manage/<q>/columns")
@needs("manager")
def choose_columns(q: str) -> Response:
    existing_queue(q)
    try:
        state().lists.choose_columns(q, request.form.getlist("column"))
    except Invalid as error:
        flash(_("Not changed: %(why)s.", why=in_words(error)))
    return _back(q)


@bp.post("/manage/<q>/views")
@needs("manager")
def save_view(q: str) -> Response:
    existing_queue(q)
    name = " ".join(request.form.get("name", "").split())
    try:
        state().lists.save_view(q, name, urlencode(_search().args()))
        flash(_("The search %(name)s is saved.", name=name))
    except Invalid as error:
        flash(_("Not saved: %(why)s.", why=in_words(error)))
    return _back(q)


@bp.post("/manage/<q>/views/remove")
@needs("manager")
def remove_view(q: str) -> Response:
    existing_queue(q)
    state().lists.remove_view(q, request.form.get("name", ""))
    flash(_("The search is removed."))
    return _back(q)


def _search() -> Search:
    return search_of(dict(parse_qsl(request.form.get("search", ""))))


def _back(q: str) -> Response:
    return redirect(url_for("manage.items", q=q, **_search().args()), 303)


PAGE = 50
QUESTION = "is."  # prefix of the names of filters on questions
SCAN_LIMIT = 10_000  # entries of a list that a request scans for matches
COUNTED_AT_ONCE = 500  # entries that one request counts


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
    policy, lists, stats = queue.policy, state().lists.get(q), queue.stats()
    html = render_template(
        "manage/items.html",
        queue=queue,
        policy=policy,
        stats=stats,
        total_count=_total(search, stats),
        search=search,
        form_values=request.args if field_error else search.inputs,
        field_error=field_error,
        query=urlencode(search.args()),
        exact_match=_find_item(queue, search.single_word or search.inputs.get("begins", "")),
        page=page,
        found=_found(q, search, page),
        home_state=_home_state(search),
        page_url=partial(url_for, "manage.items", q=q, **search.args()),
        url_without=lambda name: url_for("manage.items", q=q, **search.args_without(name)),
        criteria=criteria_of(search),
        questions=[field for field in fields_of(policy.form) if field.choices or field.kind in NUMBERS],
        list_names=list_names(),
        since_label=since_names()[search.state],
        outcome_names=outcome_names(),
        move_names=moves_for(search.state),
        people=[account.name for account in people_of(queue.name)],
        columns=columns_of(policy.form, lists.columns, search.state, page.items),
        offered_columns=offered_columns(policy.form, page.items, lists.columns),
        chosen_columns=lists.columns,
        saved_searches=[(name, _view(q, text)) for name, text in lists.views.items()],
    )
    return (html, 400) if field_error else html


@bp.get("/manage/<q>/count")
@needs("manager")
def count_found(q: str) -> str:
    """How many items a search finds, counted a little further, as a fragment of its page."""
    queue = existing_queue(q)
    search = search_of(request.args, queue.policy.form)
    after = request.args.get("after") or None
    page = search.page(queue, limit=COUNTED_AT_ONCE, look=COUNTED_AT_ONCE, after=after)
    return render_template("manage/found.html", found=_found(q, search, page))


@bp.get("/manage/<q>/peek/<item:id>")
@needs("manager")
def peek(q: str, id: str) -> str:
    """One item in short, as a fragment: the panel beside a list."""
    queue = existing_queue(q)
    item = queue.get(id)
    form = form_of(queue, item)
    search = search_of(request.args).args() if "state" in request.args else {}
    return render_template(
        "manage/peek.html",
        queue=queue,
        item=item,
        url=url_for("manage.item", q=q, id=id, **search, at=request.args.get("at")),
        parts=parts_of(form, item.payload),
        titles={f".{name}": title for name, title in titles_of(form).items()},
        question=_open_question(queue.name, id),
        remark=end_reason(item) if item.state in ("inbound", "scheduled", "dead") else None,
    )


def _open_question(q: str, id: str) -> Message | None:
    """The latest message about an item, if somebody waits for an answer."""
    threads = state().threads
    return threads.of_item(q, id)[-1] if threads.is_unanswered(q, id) else None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found up to a place in the list."""

    count: int
    scanned: int
    is_exact: bool  # the whole list was searched
    text: str
    next_url: str | None  # where to count on


def _found(q: str, search: Search, page: leaseq.Page) -> Found:
    """What the request's page, and the pages before it, found."""
    count = (whole_number(request.args.get("found")) or 0) + len(page.items)
    scanned = (whole_number(request.args.get("scanned")) or 0) + page.scanned
    values = {"count": format_decimal(count), "scanned": format_decimal(scanned)}
    if page.after is None:
        return Found(
            count, scanned, True, ngettext("%(count)s found", "%(count)s found", count, **values), None
        )
    if search.is_by_entry and search.latest_first:
        text = _("At least %(count)s in the newest %(scanned)s", **values)
    else:
        text = _("At least %(count)s in the first %(scanned)s", **values)
    place = {**search.args(), "after": page.after, "found": count, "scanned": scanned}
    return Found(
        count,
        scanned,
        False,
        text,
        url_for("manage.count_found", q=q, **place) if scanned < COMPARED else None,
    )


def _home_state(search: Search) -> str:
    """The list that a search is in, or came from."""
    if search.state != ANY:
        return search.state
    return next((state for state in request.args.getlist("state") if state in leaseq.STATES), "inbound")


def _total(search: Search, stats: leaseq.Stats) -> int | None:
    """The number of entries to search; None for the list by due date, which is not counted."""
    if search.state == "due":
        return None
    states = leaseq.STATES if search.state == ANY else (search.state,)
    return sum(int(getattr(stats, state)) for state in states)


def _question_conditions() -> list[Part]:
    """The conditions on the form's questions, chosen next to the search box."""
    return [
        condition(name.removeprefix(QUESTION), text.strip())
        for name, text in request.args.items()
        if name.startswith(QUESTION) and text.strip()
    ]


def _view(q: str, query: str) -> str:
    values: dict[str, Any] = dict(parse_qsl(query))
    return url_for("manage.items", q=q, **values)


def _find_item(queue: leaseq.Queue, id: str) -> leaseq.Item | None:
    """The item with exactly this id, in any state."""
    try:
        return queue.get(id) if id else None
    except (Invalid, ItemNotFound):
        return None
