"""REST calls on people, to keep them in step with another directory."""

from __future__ import annotations

from typing import Any

from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.models_in import PersonChanges, PersonPath
from leaseq.webapp.api.pagination import PageQuery, page_of
from leaseq.webapp.context import accounts, person
from leaseq.webapp.security.authorization import needs

TAGS: list[Any] = [{"name": "people"}]


@bp.get("/people", tags=TAGS, responses={"200": models_out.PersonList})
@needs("admin")
def list_people(query: PageQuery) -> dict[str, Any]:
    """List all people who have an account, by name, page by page."""
    people, after = page_of(accounts().people(), lambda one: one.name, query.after, query.limit)
    return {"people": [models_out.Person.of(one) for one in people], "after": after}


@bp.put("/people/<name:name>", tags=TAGS, responses={"200": models_out.Person, "201": models_out.Person})
@needs("admin")
def put_person(path: PersonPath, body: PersonChanges) -> tuple[dict[str, Any], int]:
    """Add a person, or change one.

    A new person has no password: create a password link on the page of people, or a token for them.
    A person who is disabled is signed out everywhere, and their tokens stop working.
    """
    me = person().name
    if accounts().find(path.name) is None:
        added = accounts().add(
            path.name, by=me, role=body.role or "worker", skills=body.skills or (), team=body.team or ""
        )
        if not body.disabled:
            return models_out.Person.of(added), 201
        return models_out.Person.of(accounts().change(added.name, by=me, disabled=True)), 201
    changed = accounts().change(
        path.name, by=me, role=body.role, skills=body.skills, team=body.team, disabled=body.disabled
    )
    return models_out.Person.of(changed), 200
