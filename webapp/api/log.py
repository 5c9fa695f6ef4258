"""The REST call that reads the managers' log."""

from __future__ import annotations

from typing import Any

from leaseq import validation
from leaseq.webapp.api import bp
from leaseq.webapp.api.account_models import LogEntry, LogEntryList, LogQuery
from leaseq.webapp.api.pagination import list_response
from leaseq.webapp.context import accounts
from leaseq.webapp.security.authorization import needs

TAGS: list[Any] = [{"name": "people"}]


@bp.get("/log", tags=TAGS, responses={"200": LogEntryList})
@needs("admin")
def list_log(query: LogQuery) -> dict[str, Any]:
    """List who changed what and who signed in, latest first.

    The log keeps the latest 50,000 changes and the latest 50,000 sign-ins.
    """
    person = None if query.person is None else validation.person_name(query.person)
    page = accounts().log.page(after=query.after, limit=query.limit, person=person, kind=query.kind)
    return list_response("entries", [LogEntry.from_record(one) for one in page.entries], page.after)
