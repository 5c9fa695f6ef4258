"""The page of the audit log: each entry as a sentence, with the details below it, in the reader's language.

Each act has a sentence in ``SENTENCES``, and each detail a label in ``DETAILS``, as a test asserts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from flask import render_template, request, url_for
from flask_babel import gettext, ngettext
from flask_babel import lazy_gettext as _
from markupsafe import Markup, escape

import leaseq
from leaseq.policy import FIELDS
from leaseq.policy_fields import Alerts, Bands, Boolean, Field, Integer, Measure, OneOf, Seconds
from leaseq.webapp.context import accounts, state
from leaseq.webapp.i18n import shown_number, span_text
from leaseq.webapp.people.blueprint import bp
from leaseq.webapp.rendering.filters import clock, event_words, shown_name, state_word
from leaseq.webapp.search.criteria import description_of, search_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import webhooks
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.store.accounts.log import LogEntry

PAGE = 50

KINDS = {
    "person": _("people"),
    "invitation": _("invitations"),
    "sign-in": _("signing in"),
    "token": _("API tokens"),
    "queue": _("queues"),
    "item": _("items"),
    "webhook": _("webhooks"),
}

SENTENCES = {
    "person.set-up": _("%(who)s set up leaseq and became the first admin"),
    "person.added": _("%(who)s added %(about)s"),
    "person.changed": _("%(who)s changed %(about)s"),
    "person.team-renamed": _("%(who)s renamed the team %(about)s"),
    "person.disabled": _("%(who)s disabled %(about)s"),
    "person.enabled": _("%(who)s enabled %(about)s"),
    "person.erased": _("%(who)s erased %(about)s"),
    "invitation.made": _("%(who)s invited %(about)s"),
    "invitation.renewed": _("%(who)s created a new invitation link for %(about)s"),
    "invitation.revoked": _("%(who)s revoked the invitation of %(about)s"),
    "invitation.used": _("%(who)s accepted an invitation"),
    "sign-in.done": _("%(who)s signed in"),
    "sign-in.failed": _("A sign-in as %(about)s failed"),
    "sign-in.limited": _("A sign-in as %(about)s was refused after too many attempts"),
    "sign-in.link-made": _("%(who)s created a password reset link for %(about)s"),
    "sign-in.link-used": _("%(who)s chose a password through a reset link"),
    "sign-in.password-set": _("%(who)s set the password of %(about)s"),
    "sign-in.sessions-ended": _("%(who)s signed %(about)s out everywhere"),
    "sign-in.factor-on": _("%(who)s turned on two-factor sign-in"),
    "sign-in.factor-off": _("%(who)s turned off two-factor sign-in for %(about)s"),
    "sign-in.provider-allowed": _("%(who)s allowed %(about)s to be linked to the identity provider"),
    "sign-in.provider-tied": _("%(who)s signed in through the identity provider for the first time"),
    "sign-in.provider-untied": _("%(who)s unlinked %(about)s from the identity provider"),
    "token.made": _("%(who)s created an API token for %(about)s"),
    "token.rotated": _("%(who)s replaced an API token of %(about)s"),
    "token.revoked": _("%(who)s revoked an API token of %(about)s"),
    "token.all-revoked": _("%(who)s revoked all API tokens of %(about)s"),
    "queue.made": _("%(who)s created %(about)s"),
    "queue.set": _("%(who)s changed the settings of %(about)s"),
    "queue.paused": _("%(who)s paused %(about)s"),
    "queue.resumed": _("%(who)s resumed %(about)s"),
    "queue.person-stopped": _("%(who)s stopped a person in %(about)s"),
    "queue.person-let-work": _("%(who)s let a person work in %(about)s again"),
    "queue.announced": _("%(who)s announced in %(about)s"),
    "queue.announcement-ended": _("%(who)s ended the announcement in %(about)s"),
    "queue.cleared": _("%(who)s returned expired leases in %(about)s"),
    "queue.imported": _("%(who)s imported items into %(about)s"),
    "queue.revived": _("%(who)s handed out failed items of %(about)s again"),
    "queue.removed": _("%(who)s removed items from %(about)s"),
    "queue.deleted": _("%(who)s deleted %(about)s"),
    "queue.access": _("%(who)s changed who has access to %(about)s"),
    "queue.simulated": _("%(who)s started simulated people in %(about)s"),
    "queue.simulation-stopped": _("%(who)s stopped the simulated people in %(about)s"),
    "item.added": _("%(who)s added %(items)s to %(about)s"),
    "item.changed": _("%(who)s changed %(items)s in %(about)s"),
    "item.revived": _("%(who)s handed out %(items)s in %(about)s again"),
    "item.cancelled": _("%(who)s cancelled %(items)s in %(about)s"),
    "item.released": _("%(who)s released %(items)s in %(about)s"),
    "item.assigned": _("%(who)s assigned %(items)s in %(about)s"),
    "item.unassigned": _("%(who)s let anybody have %(items)s in %(about)s"),
    "item.removed": _("%(who)s removed %(items)s from %(about)s"),
    "item.adopted": _("%(who)s accepted late answers to %(items)s in %(about)s"),
    "item.reopened": _("%(who)s reopened %(items)s in %(about)s"),
    "item.corrected": _("%(who)s corrected the answer to %(items)s in %(about)s"),
    "item.put-back": _("%(who)s undid a change of %(items)s in %(about)s"),
    "item.answered": _("%(who)s wrote about %(items)s in %(about)s"),
    "item.settled": _("%(who)s marked the question about %(items)s in %(about)s as needing no answer"),
    "webhook.added": _("%(who)s added the webhook endpoint %(about)s"),
    "webhook.removed": _("%(who)s removed the webhook endpoint %(about)s"),
    "webhook.enabled": _("%(who)s enabled the webhook endpoint %(about)s"),
    "webhook.disabled": _("%(who)s disabled the webhook endpoint %(about)s"),
    "webhook.rotated": _("%(who)s created a new secret for the webhook endpoint %(about)s"),
    "webhook.tested": _("%(who)s tested the webhook endpoint %(about)s"),
    "webhook.replayed": _("%(who)s sent events again to the webhook endpoint %(about)s"),
}
"""The sentence of each act. ``who``: the person, ``about``: the person, queue or endpoint, ``items``: an item
or items of the queue."""

OWN_SENTENCES = {
    "person.added": _("%(who)s joined through the identity provider"),
    "sign-in.password-set": _("%(who)s changed the password"),
    "sign-in.sessions-ended": _("%(who)s signed out everywhere"),
    "sign-in.factor-off": _("%(who)s turned off two-factor sign-in"),
    "token.made": _("%(who)s created an API token"),
    "token.rotated": _("%(who)s replaced an API token"),
    "token.revoked": _("%(who)s revoked an API token"),
    "token.all-revoked": _("%(who)s revoked all their API tokens"),
}
"""The sentence of acts that a person may do to themselves."""


FORM_CHANGES = {
    "form-set": _("a form was set"),
    "form-removed": _("removed"),
    "form-changed": _("changed"),
    "keys-changed": _("keys changed"),
    "rules-changed": _("rules of the answer changed"),
    "field-added": _("field “%(name)s” added"),
    "field-removed": _("field “%(name)s” removed"),
    "field-changed": _("field “%(name)s” changed"),
    "fields-reordered": _("order of the fields changed"),
    "question-added": _("question “%(name)s” added"),
    "question-removed": _("question “%(name)s” removed"),
    "question-changed": _("question “%(name)s” changed"),
    "question-required": _("question “%(name)s” must be answered"),
    "question-optional": _("question “%(name)s” may be left empty"),
    "questions-reordered": _("order of the questions changed"),
    "options-added": _("options added to “%(name)s”: %(options)s"),
    "options-removed": _("options removed from “%(name)s”: %(options)s"),
    "more": _("and %(name)s more"),
}
"""The words for each change of a form: see `forms.changes`."""

_WORDS = {
    "worker": _("worker"),
    "manager": _("manager"),
    "admin": _("admin"),
    "password": _("password"),
    "code": _("code"),
    "identity provider": _("identity provider"),
    "password after the identity provider": _("password after the identity provider"),
    "read": _("read only"),
    "work": _("work"),
    "enqueue": _("add items only"),
    "manage": _("work and manage"),
    "people": _("everything, people too"),
}


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _or_none(value: Any) -> str:
    return str(gettext("none")) if value in (None, "", [], "none") else _text(value)


def _words(value: str) -> str:
    return ", ".join(str(_WORDS.get(word, word)) for word in value.split(", "))


def _days(value: int) -> str:
    return str(ngettext("%(num)s day", "%(num)s days", value))


def _time(value: str) -> str:
    return _or_none(value) if value == "none" else clock(datetime.fromisoformat(value))


def _form_text(changes: Sequence[Sequence[str]]) -> str:
    texts = (
        str(FORM_CHANGES[what]) % {"name": names[0] if names else "", "options": ", ".join(names[1:])}
        for what, *names in changes
    )
    return "; ".join(texts)


def _search_text(arguments: Mapping[str, str]) -> str:
    """A search in words; as it was typed where that takes the queue's form."""
    try:
        return description_of(search_of(arguments))
    except leaseq.Invalid:
        return ", ".join(arguments.values())


def _group_text(group: Mapping[str, Sequence[str]] | None, everybody: str) -> str:
    if group is None:
        return everybody
    labels = {"people": gettext("People"), "teams": gettext("Teams"), "skills": gettext("Skills")}
    return "; ".join(f"{labels[kind]}: {', '.join(names)}" for kind, names in group.items() if names)


Write: TypeAlias = Callable[[Any], str]

DETAILS: Mapping[str, tuple[Any, Write]] = {
    "text": ("", _text),
    "search": (_("All that were found"), _search_text),
    "reason": (_("Reason"), _text),
    "error": (_("Error"), _text),
    "person": (_("Person"), _text),
    "to": (_("For"), _text),
    "state": (_("State"), state_word),
    "count": (_("Number of items"), shown_number),
    "held": (_("Held by people"), shown_number),
    "file": (_("From the file"), _text),
    "form": (_("Form"), _form_text),
    "role": (_("Role"), _words),
    "skills": (_("Skills"), _or_none),
    "team": (_("Team"), _or_none),
    "shown_name": (_("Shown name"), _or_none),
    "new_name": (_("New name"), _text),
    "people": (_("Number of people"), shown_number),
    "days": (_("Valid for"), _days),
    "invited_by": (_("Invited by"), _text),
    "method": (_("With"), _words),
    "address": (_("From the address"), _text),
    "token": (_("Token"), _text),
    "scope": (_("May"), _words),
    "queue": (_("Queue"), _text),
    "tokens": (_("Number of tokens"), shown_number),
    "priority": (_("Priority"), _text),
    "due": (_("Due date"), _time),
    "until": (_("Until"), _time),
    "requires": (_("Skills"), _or_none),
    "payload": (_("Content"), lambda _value: str(gettext("changed"))),
    "delay": (_("Put off for"), span_text),
    "answers": (_("People per item"), _text),
    "url": (_("URL"), _text),
    "events": (_("Events"), lambda names: ", ".join(map(event_words, names))),
    "deliveries": (_("Number of deliveries"), shown_number),
    "work": (_("Who may work on this queue"), lambda group: _group_text(group, gettext("Everybody"))),
    "manage": (_("Who may manage this queue"), lambda group: _group_text(group, gettext("Every manager"))),
}
"""The label of each detail, and how its value is written. Settings are written as their page has them."""

HIDDEN = frozenset({"grant"})
"""Details for programs only."""


@dataclass(frozen=True, slots=True)
class Detail:
    """A line below a sentence: a value, or those before and after."""

    label: str
    value: str
    before: str | None = None


def details_of(values: Mapping[str, Any]) -> Iterator[Detail]:
    for name, value in values.items():
        if name == "changes":
            yield from (_change(field, *pair) for field, pair in value.items())
        elif name not in HIDDEN:
            label, write = DETAILS.get(name, (name, _text))
            yield Detail(str(label), write(value))


def _change(name: str, before: Any, after: Any) -> Detail:
    if name in FIELDS:
        field = FIELDS[name]
        return Detail(str(gettext(field.label)), _setting_text(field, after), _setting_text(field, before))
    label, write = DETAILS[name]
    return Detail(str(label), write(after), write(before))


def _setting_text(field: Field, value: Any) -> str:
    """A setting's value with its unit."""
    if value is None:
        return str(gettext(field.none))
    match field.kind:
        case Boolean():
            return str(gettext("on") if value else gettext("off"))
        case Seconds():
            return span_text(value)
        case Integer(_, _, unit):
            return f"{shown_number(value)} {gettext(unit)}"
        case OneOf(choices):
            return str(gettext(choices[value]))
        case Alerts(measures):
            return ", ".join(map(partial(_rule_text, measures), value)) or str(gettext("none"))
        case Bands():
            return " ".join(map(str, value))
    return str(gettext("“%(text)s”", text=value) if value else gettext("empty"))


def _rule_text(measures: Mapping[str, Measure], rule: str) -> str:
    name, _sign, limit = rule.partition(">")
    measure = measures[name]
    text = span_text(int(limit)) if measure.is_time else shown_number(int(limit))
    return f"{gettext(measure.label)}: {gettext('above')} {text}"


@dataclass(frozen=True, slots=True)
class Row:
    at: datetime
    sentence: Markup
    details: tuple[Detail, ...]


class Names:
    """The links in the sentences of a page: people, queues by their titles, items and webhook endpoints. What
    exists no longer has no link."""

    def __init__(self) -> None:
        self._people = {person.name for person in accounts().people()}
        self._titles: dict[str, str | None] = {}
        self._endpoints: dict[str, str] | None = None

    def person(self, name: str) -> Markup:
        if name not in self._people:
            return escape(name or gettext("somebody"))
        return _link(url_for("people.detail", name=name), shown_name(name))

    def queue(self, name: str) -> Markup:
        if name not in self._titles:
            with suppress(leaseq.LeaseqError):  # its page explains the error
                policy = leaseq.Queue(state().client, name).find_policy()
                self._titles[name] = (policy.title or name) if policy else None
        title = self._titles.setdefault(name, name)
        return _link(url_for("manage.one_queue", q=name), title) if title else escape(name)

    def endpoint(self, id: str, url: str) -> Markup:
        if self._endpoints is None:
            self._endpoints = {endpoint.id: endpoint.url for endpoint in webhooks.endpoints().all()}
        if id not in self._endpoints:
            return escape(url or id)
        return _link(url_for("webhooks.detail", webhook=id), self._endpoints[id])

    def items(self, queue: str, id: str, exists: bool) -> Markup:
        if not id:
            return escape(gettext("items"))
        text = gettext("item %(id)s", id=id)
        return _link(url_for("manage.item", q=queue, id=id), text) if exists else escape(text)


def _link(url: str, text: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(url, text)


def row_of(entry: LogEntry, names: Names) -> Row:
    """An entry in words. An act without a sentence is shown by its code, so that nothing is left out."""
    about, _sign, id = entry.about.partition(" / ") if entry.kind == "item" else (entry.about, "", "")
    match entry.kind:
        case "queue" | "item":
            about_link = names.queue(about)
        case "webhook":
            about_link = names.endpoint(about, str(entry.values.get("url", "")))
        case _:
            about_link = names.person(about)
    own = OWN_SENTENCES.get(entry.what) if entry.by == entry.about else None
    sentence = own or SENTENCES.get(entry.what, f"%(who)s: {entry.what} %(about)s")
    who = names.person(entry.by)
    items = names.items(about, id, entry.what != "item.removed")
    text = escape(str(sentence)) % {"who": who, "about": about_link, "items": items}
    return Row(entry.at, text, tuple(details_of(entry.values)))


@bp.get("/audit-log")
@needs("admin")
def log() -> str:
    name, kind = request.args.get("person", "").strip() or None, request.args.get("kind") or None
    page = accounts().log.page(after=request.args.get("after"), limit=PAGE, person=name, kind=kind)
    names = Names()
    rows = [row_of(entry, names) for entry in in_slices(page.entries)]
    return render_template(
        "people/log.html", rows=rows, after=page.after, person_name=name, kind=kind, kinds=KINDS
    )
