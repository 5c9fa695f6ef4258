"""The announcement on a queue's work pages, and what a person does about it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from leaseq import validation
from leaseq.webapp.context import existing_queue, person, state, wants_fragment
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.store import announcements
from leaseq.webapp.store.announcements import Announcement
from leaseq.webapp.work.blueprint import bp


@dataclass(frozen=True, slots=True)
class Notice:
    """A queue's announcement for one person."""

    announcement: Announcement
    response: announcements.Response | None

    @property
    def is_shown(self) -> bool:
        return self.response != "dismissed"


@bp.app_template_global()
def announcement_notice(queue: str) -> Notice | None:
    """The announcement of a queue for the person of this request."""
    announcement = state().announcements.get(queue)
    if announcement is None:
        return None
    return Notice(announcement, state().announcements.response_of(queue, announcement, person().name))


@bp.post("/q/<q>/announcement")
@needs("worker")
def respond(q: str) -> BaseResponse:
    """Note that the person has seen or dismissed the announcement with this ``id``."""
    queue = existing_queue(q)
    response = validation.one_of(request.form.get("response"), announcements.RESPONSES, "response")
    state().announcements.respond(queue.name, request.form.get("id", ""), person().name, response)
    if wants_fragment():
        return Response(status=204)
    home = request.form.get("back") == "home"
    return redirect(url_for("work.home") if home else url_for("work.page", q=q), 303)
