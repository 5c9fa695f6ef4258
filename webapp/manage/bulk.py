"""Bulk actions: the confirmation, the action in bounded steps, and the outcome of each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, validation
from leaseq.transfer import rfc3339, time_of
from leaseq.webapp.context import accounts, queue
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.actions import (
    MOVES,
    Move,
    Refused,
    done_of,
    ids_in_words,
    make_all,
    meaning_of,
    name_of,
    write_down,
)
from leaseq.webapp.manage.search import Search, said_of, search_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole

MOST_CHOSEN = 500
COUNTED = 1_000  # the question counts up to so many of those that a search finds
STEP = 100  # moves of one request
LOOKS = 20_000  # entries of a list that one request looks through
_BY_ENTRY = ("inbound", "finished", "dead")
"""The lists whose times say when an item entered them: items that entered later are left out."""


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """The input of a form: the action, the list that it came from, and the items."""

    move: Move
    search: Search
    all: bool  # all that the search finds
    ids: tuple[str, ...]  # else those
    began: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """The progress of the action."""

    done: int
    refused: tuple[Refused, ...]  # of this step
    not_done: int  # of all steps
    looked: int
    total: int | None  # as the question counted them
    after: str | None  # where the next step begins


@bp.post("/manage/<q>/many")
@needs("manager")
def ask_many(q: str) -> str | Response:
    found, asked = queue(q), _asked()
    if not asked.all and not asked.ids:
        flash(_("Select some items first."))
        return redirect(url_for("manage.items", q=q, **asked.search.args()), 303)
    return _question(found, asked)


@bp.post("/manage/<q>/many/do")
@needs("manager")
def do_many(q: str) -> str | tuple[str, int]:
    found, asked = queue(q), _asked()
    whom = request.form.get("person", "").strip()
    try:
        if asked.move == "assign":
            whom = accounts().who_works(whom)
    except Invalid as refused:
        return _question(found, asked, error=str(refused)), 400
    outcome = _step(found, asked, whom) if asked.all else _chosen(found, asked, whom)
    return render_template(
        "manage/bulk_progress.html",
        queue=found,
        policy=found.policy,
        asked=asked,
        whom=whom,
        name=name_of(asked.move),
        said=done_of(asked.move, outcome.done),
        outcome=outcome,
        **_again(asked),
    )


def _question(found: leaseq.Queue, asked: BulkRequest, *, error: str | None = None) -> str:
    count, more = len(asked.ids), False
    if asked.all:
        page = _meant(asked).page(found, limit=COUNTED, look=LOOKS)
        count, more = len({item.id for item in page.items}), page.after is not None
    return render_template(
        "manage/bulk_confirm.html",
        queue=found,
        policy=found.policy,
        asked=asked,
        name=name_of(asked.move),
        meaning=meaning_of(asked.move),
        said=said_of(asked.search),
        count=count,
        more=more,
        looks=LOOKS,
        people=[one.name for one in accounts().people() if not one.disabled],
        error=error,
        **_again(asked),
    )


def _again(asked: BulkRequest) -> dict[str, str]:
    """The hidden fields of the next form."""
    return {
        "search": request.form.get("search", ""),
        "began": rfc3339(asked.began),
        "back": url_for("manage.items", q=(request.view_args or {})["q"], **asked.search.args()),
    }


def _asked() -> BulkRequest:
    ids = tuple(dict.fromkeys(request.form.getlist("id")))
    if len(ids) > MOST_CHOSEN:
        raise Invalid("id", f"at most {MOST_CHOSEN} items at once, or all items of a search")
    began = request.form.get("began")
    return BulkRequest(
        move=validation.one_of(request.form.get("move"), MOVES, "move"),
        search=search_of(dict(parse_qsl(request.form.get("search", "")))),
        all=request.form.get("which") == "all",
        ids=ids,
        began=time_of(began, "began") if began else datetime.now(UTC),
    )


def _meant(asked: BulkRequest) -> Search:
    return asked.search.up_to(asked.began) if asked.search.state in _BY_ENTRY else asked.search


def _chosen(found: leaseq.Queue, asked: BulkRequest, whom: str) -> Outcome:
    done, refused = make_all(found, asked.move, asked.ids, whom)
    if done:
        write_down(
            found, asked.move, " ".join(filter(None, (f"{len(done)}:", ids_in_words(done), _to(whom))))
        )
    return Outcome(len(done), tuple(refused), len(refused), 0, len(asked.ids), None)


def _step(found: leaseq.Queue, asked: BulkRequest, whom: str) -> Outcome:
    after = request.form.get("after") or None
    if after is None:
        write_down(
            found,
            asked.move,
            " ".join(
                filter(
                    None, (_("all items of this search: %(search)s", search=said_of(asked.search)), _to(whom))
                )
            ),
        )
    page = _meant(asked).page(found, limit=STEP, look=LOOKS, after=after)
    meant = [item.id for item in page.items if not _taken_since(item, asked)]
    done, refused = make_all(found, asked.move, meant, whom)
    outcome = Outcome(
        done=_number("done") + len(done),
        refused=tuple(refused),
        not_done=_number("not_done") + len(refused),
        looked=_number("looked") + page.scanned,
        total=_number("total") or None,
        after=page.after,
    )
    if page.after is None:
        write_down(
            found,
            asked.move,
            f"{outcome.done}: " + _("all items of this search: %(search)s", search=said_of(asked.search)),
        )
    return outcome


def _taken_since(item: leaseq.Item, asked: BulkRequest) -> bool:
    """Whether the item was reserved after the confirmation was shown."""
    leases = item.leases
    return asked.move == "release" and leases != () and all(one.reserved_at > asked.began for one in leases)


def _to(whom: str) -> str:
    return f"→ {whom}" if whom else ""


def _number(name: str) -> int:
    return whole(request.form.get(name)) or 0
