"""The access to a queue, and its deletion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import STATES, Invalid
from leaseq.webapp.context import accounts, existing_queue, person, queue_names, queue_titles, state
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.settings.pages import GROUPS
from leaseq.webapp.rendering.filters import shown_name
from leaseq.webapp.rendering.notices import flash_unassigned
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import queues
from leaseq.webapp.services.queues import Match
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.store.queue_access import MAX_PEOPLE, MAX_TEAMS, Access, Group, group_of, sees

RIGHTS = ("work", "manage")
KINDS = ("people", "teams", "skills")
MAX_LISTED = 500
"""The people to choose from; more would make the page long, and a team is better for them."""

MAX_NAMED = 10  # people who would lose their access
SEARCHED_FROM = 9
"""A list of so many options has a search."""


@dataclass(frozen=True, slots=True)
class Picker:
    """The inputs for the people, teams or skills of a group: boxes, and a text with others, one per line."""

    name: str  # such as work.teams
    kind: str
    options: Mapping[str, int]  # with the number of people in a team, or with a skill
    chosen: frozenset[str]
    others: str

    @property
    def is_searched(self) -> bool:
        return len(self.options) >= SEARCHED_FROM

    def rows(self) -> Iterable[tuple[str, int]]:
        """The options, in time slices: a macro has none of its own."""
        return in_slices(self.options.items())


@bp.get("/manage/<q>/access")
@needs("manager")
def access(q: str) -> str:
    queue, saved = existing_queue(q), state().access.get(q)
    chosen = {
        f"{name}.{kind}": getattr(group, kind)
        for name, group in (("work", saved.work), ("manage", saved.manage))
        for kind in KINDS
        if group is not None
    }
    limited = {name for name, group in (("work", saved.work), ("manage", saved.manage)) if group is not None}
    return _page(queue, limited, chosen, {}, matches=queues.matches_of(q, saved))


@bp.post("/manage/<q>/access")
@needs("manager")
def change_queue_access(q: str) -> Response | str | tuple[str, int]:
    """Save the access; if it names teams or skills that match nobody, or lets nobody in, ask first."""
    queue = existing_queue(q)
    try:
        queue_access = queues.checked_access(_typed_access())
        unmatched = queues.unmatched_names(queue_access)
        matches = queues.matches_of(q, queue_access)
        must_confirm = bool(unmatched) or any(match.is_empty for match in matches.values())
        if must_confirm and "confirmed" not in request.form:
            return _typed_page(queue, unmatched=unmatched, must_confirm=True, matches=matches)
        changed = queues.change_access(q, lambda _: queue_access)
    except Invalid as error:
        return _typed_page(queue, error), 400
    flash(_("Saved."))
    flash_unassigned(changed.unassigned)
    return redirect(url_for("manage.access", q=q), 303)


@bp.post("/manage/<q>/access/matches")
@needs("manager")
def access_matches(q: str) -> dict[str, str]:
    """What the choice would mean, in words, by right. Saves nothing."""
    existing_queue(q)
    groups = (_matchable_group(name) if _is_limited(name) else None for name in RIGHTS)
    return _match_texts(queues.matches_of(q, Access(*groups)))


def _match_texts(matches: Mapping[str, Match]) -> dict[str, str]:
    empty_texts = {
        "work": _("Nobody would be able to work here, except those who manage it."),
        "manage": _("Nobody would be able to manage it, except admins."),
    }
    return {name: " ".join(_match_parts(match, empty_texts[name])) for name, match in matches.items()}


def _match_parts(match: Match, empty_text: str) -> Iterator[str]:
    if match.is_empty:
        yield empty_text
    elif match.matched is not None:
        yield ngettext("Matches %(num)s person.", "Matches %(num)s people.", match.matched)
    if match.losing:
        names = ", ".join(map(shown_name, match.losing[:MAX_NAMED])) + (
            ", …" if len(match.losing) > MAX_NAMED else ""
        )
        yield ngettext(
            "%(num)s person loses access: %(names)s.",
            "%(num)s people lose access: %(names)s.",
            len(match.losing),
            names=names,
        )


def _typed_access() -> Access:
    """The access in the form. Raises Invalid."""
    return Access(*(_typed_group(name) if _is_limited(name) else None for name in RIGHTS))


def _is_limited(name: str) -> bool:
    return request.form.get(name) == "some"


def _typed_group(name: str) -> Group:
    group = _unchecked_group(name)
    return group_of(name, group.people, group.skills, group.teams)


def _unchecked_group(name: str) -> Group:
    """The group while it is chosen: it may be empty, and its names may be unfinished."""
    people, teams, skills = ([*_chosen(f"{name}.{kind}"), *_others(f"{name}.{kind}")] for kind in KINDS)
    return Group(tuple(people), tuple(" ".join(skills).split()), tuple(teams))


def _matchable_group(name: str) -> Group:
    """The same without names beyond those that a group may have, since each is compared with everybody."""
    group = _unchecked_group(name)
    return replace(group, people=group.people[:MAX_PEOPLE], teams=group.teams[:MAX_TEAMS])


def _chosen(name: str) -> list[str]:
    return [line for text in request.form.getlist(name) for line in _lines(text)]


def _others(name: str) -> list[str]:
    return _lines(request.form.get(f"{name}.others", ""))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _typed_page(queue: leaseq.Queue, error: Invalid | None = None, **values: Any) -> str:
    names = [f"{name}.{kind}" for name in RIGHTS for kind in KINDS]
    return _page(
        queue,
        {name for name in RIGHTS if _is_limited(name)},
        {name: _chosen(name) for name in names},
        {name: request.form.get(f"{name}.others", "") for name in names},
        field_error=error,
        is_unsaved=True,
        **values,
    )


def _page(
    queue: leaseq.Queue,
    limited: Collection[str],
    chosen: Mapping[str, Sequence[str]],
    others: Mapping[str, str],
    *,
    matches: Mapping[str, Match] | None = None,
    **values: Any,
) -> str:
    """The page with these names chosen, and these texts of other names. ``limited``: the rights that only
    some have."""
    options, unlisted_count = _options()
    pickers = {
        name: [_picker(name, kind, options[kind], chosen.get(f"{name}.{kind}", ()), others) for kind in KINDS]
        for name in RIGHTS
    }
    return queue_page(
        "manage/access.html",
        queue,
        groups=GROUPS,
        limited=limited,
        pickers=pickers,
        unlisted_count=unlisted_count,
        matches=matches or {},
        match_texts=_match_texts(matches or {}),
        **values,
    )


def _picker(
    name: str, kind: str, options: Mapping[str, int], chosen: Sequence[str], others: Mapping[str, str]
) -> Picker:
    """The chosen names come first."""
    counts = {each: options.get(each, 0) for each in (*chosen, *sorted(options))}
    return Picker(f"{name}.{kind}", kind, counts, frozenset(chosen), others.get(f"{name}.{kind}", ""))


def _options() -> tuple[dict[str, dict[str, int]], int]:
    """What can be chosen of each kind, with the number of people; and how many people are not listed. A
    manager sees only the people who may work on the queues that they manage; they can type other names."""
    viewer, access = person(), state().access
    people = [account for account in accounts().people() if not account.disabled]
    teams = Counter(account.team for account in people if account.team)
    skills = Counter(skill for account in people for skill in account.skills)
    sees_all, managed = access.lets_manage_all(viewer), [access.get(name) for name in queue_names("manage")]
    listed = [account.name for account in in_slices(people) if sees_all or sees(viewer, account, managed)]
    shown = dict.fromkeys(listed[:MAX_LISTED], 1)
    return {"people": shown, "teams": dict(teams), "skills": dict(skills)}, max(len(listed) - MAX_LISTED, 0)


@bp.get("/manage/<q>/delete")
@needs("manager")
def confirm_delete(q: str) -> str:
    return _deletion_page(q)


@bp.post("/manage/<q>/delete")
@needs("manager")
def delete(q: str) -> Response | tuple[str, int]:
    (title,) = queue_titles([q]).values()
    if request.form.get("name", "").strip() not in (q, title):
        return _deletion_page(q, error=_("That is not the queue's title. Nothing was deleted.")), 400
    queues.delete(q)
    flash(_("The queue %(name)s is deleted.", name=title))
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
