"""The dead: why they died, and back to work with one, the chosen ones, or all that a filter names."""

from __future__ import annotations

from functools import partial

from flask import flash, redirect, request, url_for
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound
from webapp.gate import needs
from webapp.manage import bp
from webapp.manage.items import PAGE, listed
from webapp.state import person, queue

LOOKS = 1_000  # how many of the dead one page looks through for what a filter names


@bp.get("/manage/<q>/dead")
@needs("manager")
def dead(q: str) -> str:
    found = queue(q)
    error, whose = _asked(request.args.get("error")), _asked(request.args.get("person"))
    page = _matching(found, error, whose, request.args.get("after") or None)
    here = partial(url_for, "manage.dead", q=q, error=error, person=whose)
    return listed(found, "dead", page, here, "manage/dead.html", error=error, whose=whose)


@bp.post("/manage/<q>/revive")
@needs("manager")
def revive_chosen(q: str) -> Response:
    found = queue(q)
    revived = sum(_revive(found, id) for id in dict.fromkeys(request.form.getlist("id")))
    flash(_said(revived) if request.form.getlist("id") else "Choose some first.")
    return redirect(url_for("manage.dead", q=q), 303)


@bp.post("/manage/<q>/revive-all")
@needs("manager")
def revive_all(q: str) -> Response:
    found = queue(q)
    error, whose = _asked(request.form.get("error")), _asked(request.form.get("person"))
    revived = found.revive_all(error=error, person=whose, limit=LOOKS, by=person().name)
    more = " There are more: revive again." if revived == LOOKS else ""
    flash(_said(revived) + more)
    return redirect(url_for("manage.dead", q=q, error=error, person=whose), 303)


def _matches(item: leaseq.Item, error: str | None, whose: str | None) -> bool:
    """As ``Queue.revive_all`` chooses."""
    if error is not None and error not in (item.last_error or ""):
        return False
    return whose is None or (item.history != () and item.history[-1].person == whose)


def _asked(text: str | None) -> str | None:
    return (text or "").strip() or None


def _said(revived: int) -> str:
    return f"{revived:,} wait{'s' if revived == 1 else ''} again, with all attempts."


def _revive(found: leaseq.Queue, id: str) -> bool:
    """False where somebody was faster: it is gone, or done."""
    try:
        found.revive(id, by=person().name)
    except (Invalid, ItemNotFound):
        return False
    return True


def _matching(found: leaseq.Queue, error: str | None, whose: str | None, after: str | None) -> leaseq.Page:
    """At least a page of those that the filter names, where there are so many among the next LOOKS."""
    matching: list[leaseq.Item] = []
    for _ in range(LOOKS // PAGE):
        page = found.page("dead", limit=PAGE, after=after)
        matching += (item for item in page.items if _matches(item, error, whose))
        after = page.after
        if after is None or len(matching) >= PAGE:
            break
    return leaseq.Page(tuple(matching), after)
