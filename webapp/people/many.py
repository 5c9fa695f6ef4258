"""The same change for many people: skills, team, access to a queue, disabled or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.context import accounts, existing_queue, person, state
from leaseq.webapp.people import bp
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import change_access
from leaseq.webapp.store.accounts.people import NoSuchPerson


@bp.post("/people/many")
@needs("admin")
def change_many() -> Response:
    """Change each of the selected people. Those who can't be changed are named; the others are changed."""
    names = request.form.getlist("name")
    act = "disable" if "disable" in request.form else request.form.get("act", "")
    try:
        change = _CHANGES.get(act)
        if not names:
            raise Invalid("name", "at least one person: select them in the list")
        if change is None:
            raise Invalid("act", f"one of {', '.join(_CHANGES)}")
        change(names)
    except Invalid as refused:
        flash(_("Not changed: %(why)s.", why=str(refused)))
    return redirect(_back(), 303)


def _back() -> str:
    """The list as it was searched and sorted."""
    kept = ("q", "role", "state", "team", "queue", "sort", "from")
    found: dict[str, Any] = {one: request.args[one] for one in kept if request.args.get(one)}
    return url_for("people.everybody", **found)


def _each(names: Sequence[str], change: Callable[[str], object]) -> None:
    done = 0
    for name in names:
        try:
            change(name)
            done += 1
        except (Invalid, NoSuchPerson) as refused:
            flash(_("%(name)s is not changed: %(why)s.", name=name, why=str(refused)))
    if done:
        flash(ngettext("%(num)s person is changed.", "%(num)s people are changed.", done))


def _add_skills(names: Sequence[str]) -> None:
    new = _typed("skills").split()
    _each(names, lambda name: _set(name, skills=[*accounts().get(name).skills, *new]))


def _remove_skills(names: Sequence[str]) -> None:
    gone = _typed("skills").split()
    _each(
        names,
        lambda name: _set(name, skills=[one for one in accounts().get(name).skills if one not in gone]),
    )


def _set_team(names: Sequence[str]) -> None:
    team = request.form.get("value", "").strip()
    _each(names, lambda name: _set(name, team=team))


def _let_work(names: Sequence[str]) -> None:
    queue = existing_queue(_typed("queue")).name
    known = state().access.of(queue)
    if known.work is None:
        raise Invalid("queue", f"a queue that only some may work on: everybody may work on {queue!r}")
    people = tuple(dict.fromkeys((*known.work.people, *names)))
    change_access(queue, replace(known, work=replace(known.work, people=people)))
    flash(_("Saved."))


def _let_not_work(names: Sequence[str]) -> None:
    queue = existing_queue(_typed("queue")).name
    known = state().access.of(queue)
    if known.work is None:
        raise Invalid("queue", f"a queue that only some may work on: everybody may work on {queue!r}")
    people = tuple(one for one in known.work.people if one not in names)
    change_access(queue, replace(known, work=replace(known.work, people=people)))
    flash(_("Saved."))


def _disable(names: Sequence[str]) -> None:
    _each(names, lambda name: _set(name, disabled=True))


def _enable(names: Sequence[str]) -> None:
    _each(names, lambda name: _set(name, disabled=False))


def _set(
    name: str, *, skills: Sequence[str] | None = None, team: str | None = None, disabled: bool | None = None
) -> None:
    accounts().change(name, by=person().name, skills=skills, team=team, disabled=disabled)


def _typed(field: str) -> str:
    text = request.form.get("value", "").strip()
    if not text:
        raise Invalid(field, "something in its box")
    return text


_CHANGES: dict[str, Callable[[Sequence[str]], None]] = {
    "add-skills": _add_skills,
    "remove-skills": _remove_skills,
    "team": _set_team,
    "let-work": _let_work,
    "let-not-work": _let_not_work,
    "disable": _disable,
    "enable": _enable,
}
