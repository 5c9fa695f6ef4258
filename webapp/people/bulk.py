"""One change for many people: skills, team, access to a queue, disabled or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response as BaseResponse

from leaseq import Invalid
from leaseq.webapp.context import accounts, named_queue, person, state
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.people.index import Listing
from leaseq.webapp.people.roster import Roster
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import people, queues
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.queue_access import Access

STEP = 50
"""People that one request changes, each by a separate write."""
_MAX_FLASHED = 10
"""Refusals that the list shows; more get a separate page, since the session cookie has no room."""


@dataclass
class Outcome:
    """The progress of a change."""

    done: int = 0
    refusals: dict[str, str] = field(default_factory=dict)  # reason by name
    after: str | None = None  # the last name changed, if a next step follows
    total: int = 0


@bp.post("/people/bulk")
@needs("admin")
def change_many() -> BaseResponse | str:
    """Change the selected people, or all who match the search. Those who can't be changed are listed; the
    others are changed."""
    try:
        if request.form.get("all") == "yes":
            return _change_all()
        names = request.form.getlist("name")
        change = _change()
        if not names:
            raise Invalid("name", "no_people")
        outcome = change(names)
    except Invalid as error:
        flash(_("Not changed: %(why)s.", why=in_words(error)))
        return redirect(_back(), 303)
    if len(outcome.refusals) > _MAX_FLASHED:
        return _progress_page(outcome)
    for name, reason in outcome.refusals.items():
        flash(_("%(name)s is not changed: %(why)s.", name=name, why=reason))
    if outcome.done:
        flash(_outcome_text(outcome.done))
    return redirect(_back(), 303)


def _change_all() -> BaseResponse | str:
    """One step of a change of all matching people, by name; the page requests the next step."""
    change, after = _change(), request.form.get("after", "")
    roster = Roster.read(state())
    rows = roster.view_for(person()).matching(Listing.of_request().criteria, roster.access)
    names = sorted(row.person.name for row in rows if row.person.name > after)
    try:
        outcome = change(names[:STEP]) if names else Outcome()
    except Invalid as error:
        if not after:
            raise
        outcome = Outcome(refusals=dict.fromkeys(names[:STEP], in_words(error)))  # some are changed already
    outcome.after = names[STEP - 1] if len(names) > STEP else None
    outcome.done += whole_number(request.form.get("done")) or 0
    outcome.total = whole_number(request.form.get("total")) or len(names)
    if outcome.after is None and not outcome.refusals and not after:
        flash(_outcome_text(outcome.done))
        return redirect(_back(), 303)
    return _progress_page(outcome)


def _progress_page(outcome: Outcome) -> str:
    return render_template(
        "people/progress.html",
        outcome=outcome,
        outcome_text=_outcome_text(outcome.done),
        act=_action(),
        value=request.form.get("value", ""),
        criteria=Listing.of_request().criteria,
        back=_back(),
    )


def _action() -> str:
    return "disable" if "disable" in request.form else request.form.get("act", "")


def _change() -> Callable[[Sequence[str]], Outcome]:
    change = _CHANGES.get(_action())
    if change is None:
        raise Invalid("act", "one_of", choices=list(_CHANGES), value=_action())
    return change


def _outcome_text(count: int) -> str:
    return str(ngettext("%(num)s person is changed.", "%(num)s people are changed.", count))


def _back() -> str:
    """The URL of the list with the same search and order."""
    listing = Listing.of_request()
    arguments: dict[str, Any] = {**listing.criteria, "from": listing.start or None}
    return url_for("people.index", **arguments)


def _change_each(names: Sequence[str], change: Callable[[str], object]) -> Outcome:
    outcome = Outcome()
    for name in names:
        try:
            change(name)
            outcome.done += 1
        except (Invalid, NoSuchPerson) as error:
            outcome.refusals[name] = in_words(error)
    return outcome


def _change_skills(names: Sequence[str], change: Callable[[Sequence[str], list[str]], list[str]]) -> Outcome:
    skills = _input_value("skills").split()
    return _change_each(
        names, lambda name: people.change(name, skills=change(accounts().get(name).skills, skills))
    )


def _set_team(names: Sequence[str]) -> Outcome:
    team = request.form.get("value", "").strip()
    return _change_each(names, lambda name: people.change(name, team=team))


def _change_workers(names: Sequence[str], change: Callable[[tuple[str, ...]], Iterable[str]]) -> Outcome:
    queue = named_queue(_input_value("queue"))

    def change_people(access: Access) -> Access:
        if access.work is None:
            raise Invalid("queue", "access", what="open", queue=queue)
        return replace(access, work=replace(access.work, people=tuple(change(access.work.people))))

    queues.change_access(queue, change_people)
    return Outcome(len(names))


def _disable(name: str) -> None:
    if name == person().name:
        raise Invalid("name", "yourself")
    people.change(name, disabled=True)


def _input_value(field: str) -> str:
    text = request.form.get("value", "").strip()
    if not text:
        raise Invalid(field, "required")
    return text


_CHANGES: dict[str, Callable[[Sequence[str]], Outcome]] = {
    "add-skills": lambda names: _change_skills(names, lambda have, skills: [*have, *skills]),
    "remove-skills": lambda names: _change_skills(
        names, lambda have, skills: [skill for skill in have if skill not in skills]
    ),
    "team": _set_team,
    "let-work": lambda names: _change_workers(names, lambda others: dict.fromkeys((*others, *names))),
    "let-not-work": lambda names: _change_workers(
        names, lambda others: (other for other in others if other not in names)
    ),
    "disable": lambda names: _change_each(names, _disable),
    "enable": lambda names: _change_each(names, lambda name: people.change(name, disabled=False)),
}
