"""REST calls for who may work on a queue, and who may manage it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from leaseq.webapp.api import bp
from leaseq.webapp.api.headers import UNASSIGNED, UNMATCHED
from leaseq.webapp.api.models_in import PERSON, SKILLS, Body, QueuePath
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import change_access, unmatched_names
from leaseq.webapp.store.accounts.model import MAX_TEAM
from leaseq.webapp.store.queue_access import MAX_PEOPLE, MAX_TEAMS, Access, Group, group_of

TAGS: list[Any] = [{"name": "queues"}]


class AccessGroup(Body):
    """The people who are named, have one of the skills, or are in one of the teams."""

    people: list[str] = Field(
        [],
        description="Names",
        json_schema_extra={"items": {"type": "string", **PERSON}, "maxItems": MAX_PEOPLE},
    )
    skills: list[str] = Field([], description="Everybody who has one of them", json_schema_extra=SKILLS)
    teams: list[str] = Field(
        [],
        description="Everybody who is in one of them",
        json_schema_extra={
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_TEAM},
            "maxItems": MAX_TEAMS,
        },
    )


class QueueAccess(Body):
    """Who may use a queue. Admins always may, and everybody who may manage it may also work on it."""

    work: AccessGroup | None = Field(..., description="Who may work on it; null: everybody")
    manage: AccessGroup | None = Field(..., description="Who may manage it; null: every manager")


@bp.get("/queues/<q>/access", tags=TAGS, responses={"200": QueueAccess})
@needs("manager")
def get_access(path: QueuePath) -> dict[str, Any]:
    """Read who may work on a queue, and who may manage it."""
    return _serialize(state().access.get(existing_queue(path.q).name))


@bp.put("/queues/<q>/access", tags=TAGS, responses={"200": QueueAccess})
@needs("manager")
def put_access(path: QueuePath, body: QueueAccess) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Set who may work on a queue, and who may manage it. You must still be allowed to manage it.

    Anybody may have what was assigned to people who may no longer work on it: `X-Leaseq-Unassigned` says how
    many items. Teams and skills that match nobody are accepted: `X-Leaseq-Unmatched` says how many.
    """
    queue = existing_queue(path.q).name
    access = Access(_group("work", body.work), _group("manage", body.manage))
    change = change_access(queue, lambda _: access)
    headers = {UNASSIGNED: change.unassigned, UNMATCHED: len(unmatched_names(change.access))}
    return _serialize(change.access), 200, {name: str(count) for name, count in headers.items()}


def _group(name: str, group: AccessGroup | None) -> Group | None:
    return group_of(name, group.people, group.skills, group.teams) if group else None


def _serialize(access: Access) -> dict[str, Any]:
    return {"work": _serialize_group(access.work), "manage": _serialize_group(access.manage)}


def _serialize_group(group: Group | None) -> dict[str, list[str]] | None:
    if group is None:
        return None
    return {"people": list(group.people), "skills": list(group.skills), "teams": list(group.teams)}
