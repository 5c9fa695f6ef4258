"""The REST call that finds items of a queue."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypeAliasType

import leaseq
from leaseq import transfer
from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.items import page_or_problem
from leaseq.webapp.api.models_in import MOMENT, MOMENT_TEXT, PERSON, QueuePath, State
from leaseq.webapp.api.pagination import AFTER, LIMIT, Query, list_response
from leaseq.webapp.context import existing_queue
from leaseq.webapp.search.criteria import ANY, search_among
from leaseq.webapp.search.matching import LONGEST
from leaseq.webapp.security.authorization import needs

TAGS: list[Any] = [{"name": "items"}]
SCAN_LIMIT = 10_000  # entries that one search scans, if it compares no text
AnyState = TypeAliasType("AnyState", State)


class SearchQuery(Query):
    find: str = Field(
        "",
        description="Words in the id, the payload or an answer, and conditions on their fields: `refund "
        "rating<=2`",
        max_length=LONGEST,
    )
    state: AnyState | None = Field(None, description="Only items in this state; by default in any")
    person: str | None = Field(None, description="Only items that this person held", json_schema_extra=PERSON)
    since: str | None = Field(
        None,
        alias="from",
        description="In their state since" + MOMENT_TEXT,
        json_schema_extra=MOMENT,
    )
    until: str | None = Field(
        None,
        alias="to",
        description="In their state before this; a day is included as a whole" + MOMENT_TEXT,
        json_schema_extra=MOMENT,
    )
    after: str | None = Field(None, description=AFTER, min_length=1)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class FoundItems(models_out.ItemList):
    compared: int = Field(description="How many entries this call compared; `after` continues after them")


@bp.get("/queues/<q>/search", tags=TAGS, responses={"200": FoundItems})
@needs("manager")
def search_items(path: QueuePath, query: SearchQuery) -> dict[str, Any]:
    """Find items of any state, or of one, by words, fields, person and time.

    A call compares a limited number of entries, so a page may be short, or empty, although there are more:
    continue with `after` until it is null.
    """
    queue = existing_queue(path.q)
    since, until = transfer.period_of(query.since, query.until)
    criteria = leaseq.Filter(person=query.person, since=since, until=until)
    search = search_among(query.find, query.state or ANY, criteria, queue.policy.form)
    page = page_or_problem(lambda: search.page(queue, limit=query.limit, look=SCAN_LIMIT, after=query.after))
    items = [models_out.Item.from_record(item) for item in page.items]
    return list_response("items", items, page.after, compared=page.scanned)
