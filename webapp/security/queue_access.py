"""Changes who may work on a queue and manage it, for the page and REST alike."""

from __future__ import annotations

from leaseq import Invalid
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.security.audit_log import note
from leaseq.webapp.store.accounts import Person
from leaseq.webapp.store.queue_access import Access, Group


def people_of(queue: str) -> list[Person]:
    """Those who may work on the queue, by name: its managers learn of nobody else."""
    access = state().access.of(queue)
    return [one for one in accounts().people() if access.lets_work(one)]  # guard: people-suggested


def change_access(queue: str, access: Access) -> Access:
    """Set a queue's access, with each name as its account has it. Raises Invalid."""
    access = Access(_known("work", access.work), _known("manage", access.manage))
    if not access.lets_manage(person()):
        why = f"{person().name!r} is in none of these groups, and could not change it back"
        raise Invalid("manage", "a group that you are in, or everybody", why)
    before = state().access.of(queue)
    state().access.set(queue, access)
    if access != before:
        note("queue.access", queue, f"work: {_words(access.work)}; manage: {_words(access.manage)}")
    return access


def _known(field: str, group: Group | None) -> Group | None:
    if group is None:
        return None
    names = {one.name for one in accounts().people()}
    unknown = [name for name in group.people if name not in names]
    if unknown:
        raise Invalid(field, "people who have an account", f"nobody is named {unknown[0]!r}")
    return group


def _words(group: Group | None) -> str:
    if group is None:
        return "everybody"
    kinds = (("people", group.people), ("skills", group.skills), ("teams", group.teams))
    return " ".join(f"{kind} {', '.join(names)}" for kind, names in kinds if names)
