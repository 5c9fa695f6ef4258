"""The access to a queue, and its deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import STATES, Invalid
from leaseq.webapp.context import accounts, existing_queue, state
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.settings import GROUPS
from leaseq.webapp.rendering.notices import flash_unassigned
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import queues
from leaseq.webapp.services.queues import UnmatchedName
from leaseq.webapp.store.queue_access import Access, Group, group_of

_RIGHTS = ("work", "manage")


@bp.get("/manage/<q>/access")
@needs("manager")
def access(q: str) -> str:
    return _page(existing_queue(q), _form_texts(state().access.get(q)))


@bp.post("/manage/<q>/access")
@needs("manager")
def change_queue_access(q: str) -> Response | str | tuple[str, int]:
    """Save the access; if it names teams or skills that match nobody, ask first."""
    queue = existing_queue(q)
    try:
        queue_access = queues.checked_access(Access(*(_group(name) for name in _RIGHTS)))
        unmatched = queues.unmatched_names(queue_access) if "confirmed" not in request.form else []
        if unmatched:
            return _page(queue, request.form, unmatched=unmatched)
        changed = queues.change_access(q, lambda _: queue_access)
    except Invalid as error:
        return _page(queue, request.form, error), 400
    flash(_("Saved."))
    flash_unassigned(changed.unassigned)
    return redirect(url_for("manage.access", q=q), 303)


def _group(name: str) -> Group | None:
    if request.form.get(name) != "some":
        return None
    inputs = {kind: request.form.get(f"{name}.{kind}", "") for kind in ("people", "skills", "teams")}
    return group_of(name, _lines(inputs["people"]), inputs["skills"].split(), _lines(inputs["teams"]))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _form_texts(queue_access: Access) -> dict[str, str]:
    """The form's texts for an access."""
    texts: dict[str, str] = {}
    for name, group in (("work", queue_access.work), ("manage", queue_access.manage)):
        if group is not None:
            texts |= {
                name: "some",
                f"{name}.people": "\n".join(group.people),
                f"{name}.skills": " ".join(group.skills),
                f"{name}.teams": "\n".join(group.teams),
            }
    return texts


def _page(
    queue: leaseq.Queue,
    form_values: Mapping[str, str],
    field_error: Invalid | None = None,
    unmatched: Sequence[UnmatchedName] = (),
) -> str:
    people = accounts().people()
    return queue_page(
        "manage/access.html",
        queue,
        groups=GROUPS,
        is_unsaved=form_values is request.form,
        form_values=form_values,
        field_error=field_error,
        unmatched=unmatched,
        teams=sorted({account.team for account in people if account.team}),
        skills=sorted({skill for account in people for skill in account.skills}),
    )


@bp.get("/manage/<q>/delete")
@needs("manager")
def confirm_delete(q: str) -> str:
    return _deletion_page(q)


@bp.post("/manage/<q>/delete")
@needs("manager")
def delete(q: str) -> Response | tuple[str, int]:
    if request.form.get("name", "").strip() != q:
        return _deletion_page(q, error=_("That is not the queue's name. Nothing was deleted.")), 400
    queues.delete(q)
    flash(_("The queue %(name)s is deleted.", name=q))
    return redirect(url_for("manage.overview"), 303)


def _deletion_page(q: str, error: str = "") -> str:
    queue = existing_queue(q)
    stats = queue.stats()
    return queue_page(
        "manage/delete.html",
        queue,
        stats=stats,
        item_count=sum(getattr(stats, name) for name in STATES),
        unanswered_count=state().threads.count_unanswered(q),
        name_input=request.form.get("name", ""),
        error=error,
    )
