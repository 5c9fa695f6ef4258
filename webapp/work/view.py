"""The content of the work page: the lease, the item and its form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, Literal, cast

from flask import current_app, render_template, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from markupsafe import Markup, escape
from werkzeug.datastructures import MultiDict

import leaseq
from leaseq import Invalid, Json, Lease
from leaseq.form import prefilled, version
from leaseq.webapp.context import max_file_bytes, person, state, wants_fragment
from leaseq.webapp.forms.changes import gone_answers, gone_in_draft, gone_in_form, unshown_in_form
from leaseq.webapp.forms.fields import Field, fields_of, in_app
from leaseq.webapp.forms.inputs import Inputs, read_inputs, unsent_files
from leaseq.webapp.forms.parsing import errors_at, inputs_of, read_result
from leaseq.webapp.i18n import language
from leaseq.webapp.realtime.attention import last_note
from leaseq.webapp.refusals import reason_of
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.security.headers import allow_sending_files
from leaseq.webapp.store.activity import DayFigures
from leaseq.webapp.store.threads import Message, new_message_id

How = Literal[
    "held",
    "ran out",
    "released",
    "abandoned",
    "failed",
    "finished",
    "undone",
    "taken back",
    "reopened",
    "corrected",
]
_ENDINGS: dict[str, How] = {"held": "ran out", "expired": "ran out"}
"""Endings that the page names otherwise. A lease recorded as held has expired, but was not returned yet."""
Obstacle = Literal["renewals", "holds"]
"""Why a lease that ran out can't be renewed: it was renewed as often as the policy allows, or the person
holds as many items as it allows."""


@dataclass(frozen=True, slots=True)
class LeaseEnd:
    """The end of a lease, as shown to its holder."""

    how: How | None  # how the lease ended; None: the item no longer exists
    at: datetime | None = None  # when it ended
    state: leaseq.State | None = None  # the item's current state
    is_free: bool = False  # not granted to anybody since: an answer counts
    obstacle: Obstacle | None = None  # why the person can't take it back, if it is free
    has_late_answer: bool = False  # their answer came too late and is kept for the manager
    new_lease: leaseq.Lease | None = None  # they hold the item again, or still
    answer_kind: Literal["first", "late"] | None = None  # of their answer, if it is one of the item's answers
    used_up: bool = False  # if dead: by its attempts, not by being given back
    is_needed: bool = True  # False: it was cancelled, or nobody answered it in time


NO_ITEM = LeaseEnd(None)


def lease_end_of(
    item: leaseq.Item,
    token: int,
    name: str,
    leases: Sequence[leaseq.Lease],
    policy: leaseq.Policy,
    *,
    refused: bool = False,
) -> LeaseEnd | None:
    """The end of this grant; None if it was not theirs, which they may not read.

    ``leases``: those they hold now. ``refused``: the server just refused to give the item back to them.
    """
    grant = next((grant for grant in item.history if (grant.token, grant.person) == (token, name)), None)
    if grant is None:
        return None
    new_lease = next((lease for lease in leases if lease.id == item.id), None)
    ending: How = _ENDINGS.get(grant.how, cast("How", grant.how))
    at = grant.ended_at or grant.expires_at
    if grant.undone in ("abandoned", "failed"):
        ending = "taken back"
    if new_lease is not None and new_lease.token == token:
        ending = "held"  # the clock of their page was ahead
    is_untouched = grant.how == "held" or grant.renewable
    is_free = ending == "ran out" and is_untouched and not refused and new_lease is None
    answer = next((answer for answer in item.answers if (answer.token, answer.person) == (token, name)), None)
    return LeaseEnd(
        ending,
        at,
        _state_for(item, name, new_lease),
        is_free,
        _obstacle(grant, len(leases), policy) if is_free else None,
        has_late_answer=any((answer.token, answer.person) == (token, name) for answer in item.late_answers),
        new_lease=new_lease,
        answer_kind=None if answer is None else "late" if answer.late else "first",
        used_up=item.failures >= item.max_attempts,
        is_needed=item.died_of not in ("cancelled", "expired"),
    )


def _obstacle(grant: leaseq.Grant, held_count: int, policy: leaseq.Policy) -> Obstacle | None:
    if policy.renewals is not None and grant.renewals >= policy.renewals:
        return "renewals"
    if grant.how != "held" and held_count >= policy.holds:  # one that nobody returned yet is still theirs
        return "holds"
    return None


def _state_for(item: leaseq.Item, name: str, new_lease: leaseq.Lease | None) -> leaseq.State:
    """The item's state; ``inbound`` if only this person holds it, by an expired lease."""
    if item.state == "reserved" and new_lease is None and all(lease.person == name for lease in item.leases):
        return "inbound"
    return item.state


PAGE_KEYS = ("k", "l", "n", "g", "b", "a", "t", "u", "h")
"""The work page's own keys: renew, later, not for me, note, broken, ask, take back, undo, help."""

TEXT_FIELDS = ("reason", "error", "note", "question")
"""The text fields of the actions give back, report and ask."""

_URL_MARK = "\0"  # occurs in no page


@dataclass(frozen=True, slots=True)
class Input:
    """The texts typed and the choices made so far."""

    texts: Inputs = field(default_factory=dict)
    gone: Inputs = field(default_factory=dict)  # for questions and options that the form no longer has
    suggested: frozenset[str] = frozenset()  # the questions that show what the form prefills


@dataclass(frozen=True, eq=False)
class FormView:
    """The form of a queue, prepared for the page in one language."""

    fields: tuple[Field, ...]
    by_name: Mapping[str, Field]
    keys: Mapping[str, str]  # the page's shortcuts that no choice of the form uses
    finishing_field: Field | None  # the only required field, if a key of it finishes the item
    unfilled: Inputs
    version: str  # of the questions

    def initial_input(self, lease: Lease, form: Json) -> Input:
        """The texts that the inputs of a lease show at first: its draft, else what the form prefills."""
        suggestions = prefilled(form, lease.payload)
        inputs = inputs_of(self.fields, lease.draft, suggestions)
        gone = gone_in_draft(self.fields, lease.draft) if lease.draft is not None else {}
        return Input(inputs, gone, self._suggested(inputs, suggestions))

    def _suggested(self, inputs: Inputs, suggestions: Mapping[str, Json]) -> frozenset[str]:
        """The questions whose inputs show what is suggested; those that the draft changed don't."""
        if not suggestions:
            return frozenset()
        suggested_inputs = inputs_of(self.fields, None, suggestions)
        return frozenset(
            name for name in suggestions if inputs.get(name) and inputs[name] == suggested_inputs.get(name)
        )

    def submitted_input(self, form: MultiDict[str, str]) -> Input:
        return Input(read_inputs(self.fields, form), gone_in_form(self.fields, form))

    @cached_property
    def asks_files(self) -> bool:
        return any(field.kind == "file" for field in self.fields)

    def read(self, form: MultiDict[str, str]) -> tuple[dict[str, Json], dict[str, str]]:
        """The submitted result, and the errors by field; one of them if the form has changed and the
        person has not seen these questions yet."""
        result, errors = read_result(self.fields, read_inputs(self.fields, form))
        for name, file in unsent_files(self.fields, form).items():
            errors[name] = reason_of(Invalid(name, "file", what="unsent", name=file))
        if form.get("questions", self.version) != self.version or unshown_in_form(self.fields, form):
            errors = {"questions": str(_("The questions have changed since this page was opened.")), **errors}
        return result, errors

    def fields_html(self, input: Input, errors: Mapping[str, str]) -> Markup:
        """The form's fields as HTML, for the current request. Those of an unfilled form are cached."""
        if self.asks_files:
            allow_sending_files()
        if errors or input.gone or input.texts != self.unfilled:
            return self._fields_html(input, errors)
        return self._unfilled_fields

    @cached_property
    def _unfilled_fields(self) -> Markup:
        return self._fields_html(Input(self.unfilled), {})

    def item_actions(self, item_url: str, inputs: Mapping[str, str], errors: Mapping[str, str]) -> Markup:
        """The actions to give back, report and ask, as HTML. ``item_url`` ends with a slash."""
        if errors or any(inputs.get(name) for name in TEXT_FIELDS):
            return self._item_actions(item_url, inputs, errors)
        return self._empty_item_actions.replace(_URL_MARK, escape(item_url))

    @cached_property
    def _empty_item_actions(self) -> Markup:
        return self._item_actions(_URL_MARK, {}, {})

    @cached_property
    def notices(self) -> Markup:
        """The notices that the page's script shows, as HTML."""
        template = current_app.jinja_env.get_or_select_template("work/notices.html")
        return Markup(template.render(keys=self.keys))  # noqa: S704 - our own template

    def _item_actions(self, item_url: str, inputs: Mapping[str, str], errors: Mapping[str, str]) -> Markup:
        urls = {verb: item_url + verb for verb in ("abandon", "fail", "ask")}
        macros: Any = current_app.jinja_env.get_or_select_template("work/item_actions.html").module
        html: Markup = macros.item_actions(self.keys, urls, inputs, errors)
        return html

    def _fields_html(self, input: Input, errors: Mapping[str, str]) -> Markup:
        macros: Any = current_app.jinja_env.get_or_select_template("work/fields.html").module
        html: Markup = macros.gone_section(self.version, gone_answers(self.fields, input.gone))
        html += macros.all_fields(self.fields, input.texts, errors, self.finishing_field, input.suggested)
        return html


def form_view_of(form: Json) -> FormView:
    return _cached_form_view(json.dumps(form), language(), max_file_bytes())


@lru_cache(maxsize=256)
def _cached_form_view(text: str, _language: str, max_file_bytes: int | None) -> FormView:
    form = json.loads(text)
    fields = in_app(fields_of(form), max_file_bytes)
    by_name = {field.name: field for field in fields}
    questions = {name: form.get(name) for name in ("ask", "when")} if isinstance(form, dict) else None
    return FormView(
        fields,
        by_name,
        _free_keys(fields),
        _finishing_field(fields),
        inputs_of(fields, None),
        version(questions),
    )


def _free_keys(fields: Iterable[Field]) -> dict[str, str]:
    choices = [choice for field in fields for choice in (*field.choices, *field.labels)]
    used_keys = {choice.key.lower() for choice in choices if choice.key}
    return {key: key for key in PAGE_KEYS if key not in used_keys}


def _finishing_field(fields: Iterable[Field]) -> Field | None:
    required_fields = [
        field for field in fields if field.required and all(group.required for group in field.groups)
    ]
    if (
        len(required_fields) == 1
        and required_fields[0].kind == "choice"
        and all(choice.key for choice in required_fields[0].choices)
    ):
        return required_fields[0]
    return None


VERBS = ("finish", "abandon", "fail", "renew", "draft", "outcome", "thread")


@dataclass(frozen=True)
class ItemView:
    """An item as the work page shows it."""

    queue: leaseq.Queue
    policy: leaseq.Policy
    id: str
    token: int
    input: Input
    lease: leaseq.Lease | None = None  # None: it has ended, and `lease_end` says how
    leases: Sequence[leaseq.Lease] = ()  # all that the person holds in this queue
    item: leaseq.Item | None = None  # if there is no lease to show it from
    lease_end: LeaseEnd | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    box_texts: Mapping[str, str] = field(
        default_factory=dict
    )  # texts of an undone act, by the text box they were typed in
    today: DayFigures | None = None  # of the person in this queue, if already known
    unread: bool = False  # the lease is new: if it is the item's first, nobody had the item before

    @property
    def payload(self) -> Json:
        return self.lease.payload if self.lease else self.item.payload if self.item else None

    @property
    def form(self) -> Json:
        """The form that counts: the item's own, else the queue's."""
        shown = self.lease or self.item
        return self.policy.form if shown is None or shown.form is None else shown.form

    @property
    def url(self) -> str:
        """The URL of the item's page, with its id only if the person holds several."""
        several = self.lease is not None and len(self.leases) > 1
        return url_for("work.page", q=self.queue.name, item=self.id) if several else self.queue_url

    @cached_property
    def queue_url(self) -> str:
        return url_for("work.page", q=self.queue.name)


def render_item(view: ItemView) -> str:
    form_view = form_view_of(view.form)
    errors = errors_at(form_view.fields, view.errors)
    base = item_url(view.queue.name, view.id)
    item = _find_item(view)
    return render_template(
        "work/item_view.html" if wants_fragment() else "work/page.html",
        fragment=wants_fragment(),
        view=view,
        today=view.today or state().activity.today(person().name, view.queue.name),
        queue=view.queue,
        id=view.id,
        urls=urls_of(base),
        policy=view.policy,
        lease=view.lease,
        lease_end=view.lease_end,
        renewals=_renewals_left(view, item),
        note=_note_of_another(view, item),
        parts=parts_of(view.form, view.payload) if view.lease or view.item else (),
        fields_html=form_view.fields_html(view.input, errors),
        notices=form_view.notices,
        item_actions=form_view.item_actions(base, view.box_texts, errors) if view.lease else None,
        messages=_messages(view),
        message_id=new_message_id(),
        errors=errors,
        errors_heading=_errors_heading(form_view.by_name, errors),
        by_name=form_view.by_name,
        keys=form_view.keys,
        asks_files=form_view.asks_files,
        finishing_field=form_view.finishing_field,
        instructions_version=version(view.policy.instructions),
    )


def _errors_heading(by_name: Mapping[str, Field], errors: Mapping[str, str]) -> str:
    """How many answers are missing, or wrong."""
    texts = [text for name, text in errors.items() if name in by_name]
    if texts and len(texts) == len(errors) and set(texts) == {str(_("Please answer this."))}:
        return str(ngettext("%(num)s answer is missing:", "%(num)s answers are missing:", len(texts)))
    if texts:
        return str(ngettext("%(num)s answer needs a change:", "%(num)s answers need a change:", len(texts)))
    return str(_("Not saved yet:"))


def item_url(queue: str, id: str) -> str:
    """The URL of an item, ending with a slash."""
    return url_for("work.finish", q=queue, id=id).removesuffix("finish")


def urls_of(base: str) -> dict[str, str]:
    """The URLs of the actions on an item, by verb. Flask would need as long for one URL as this for all."""
    return {verb: base + verb for verb in VERBS}


def _find_item(view: ItemView) -> leaseq.Item | None:
    """The item, if the page shows more than the lease contains: the number of renewals, or a note of somebody
    who had the item before."""
    if view.lease is None or (view.policy.renewals is None and view.lease.attempt == 1):
        return view.item
    return view.queue.get(view.id)


def _messages(view: ItemView) -> list[Message]:
    """The item's thread; not read for an item that nobody had before, which has no thread."""
    if view.lease is None or (view.unread and view.lease.attempt == 1):
        return []
    return state().threads.of_item(view.queue.name, view.id)


def _note_of_another(view: ItemView, item: leaseq.Item | None) -> leaseq.Grant | None:
    """The note of the person who had the item before, or of the manager who reopened it; not the person's own
    note."""
    note = last_note(item) if item and view.lease else None
    return note if note and (note.how == "reopened" or note.person != person().name) else None


def _renewals_left(view: ItemView, item: leaseq.Item | None) -> int | None:
    """The number of renewals that are left; None: no limit."""
    limit = view.policy.renewals
    if limit is None or view.lease is None or item is None:
        return None
    leases = (lease for lease in item.leases if lease.token == view.token)
    return max(limit - next((lease.renewals for lease in leases), 0), 0)
