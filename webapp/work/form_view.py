"""The cached part of the work page, which depends only on the queue's form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flask import current_app
from flask_babel import gettext as _
from markupsafe import Markup, escape
from werkzeug.datastructures import MultiDict

from leaseq import Json, Lease
from leaseq.form import prefilled, version
from leaseq.webapp.forms import Field, Typed, fields_of, read_result, read_typed, typed_of
from leaseq.webapp.forms.gone import gone_answers, gone_in_draft, gone_in_form, unseen_in_form
from leaseq.webapp.i18n import language

PAGE_KEYS = ("k", "l", "n", "g", "b", "a", "t", "u", "h")
"""The work page's own keys: renew, later, not for me, note, broken, ask, take back, undo, help."""

TEXT_FIELDS = ("reason", "error", "note", "question")
"""The text fields of the actions give back, report and ask."""

_URL_MARK = "\0"  # occurs in no page


@dataclass(frozen=True, slots=True)
class Input:
    """What was typed or chosen so far."""

    typed: Typed = field(default_factory=dict)
    gone: Typed = field(default_factory=dict)  # for questions and options that the form no longer has


@dataclass(frozen=True, slots=True, eq=False)
class FormView:
    """The form of a queue, prepared for the page in one language."""

    fields: tuple[Field, ...]
    by_name: Mapping[str, Field]
    keys: Mapping[str, str]  # the page's shortcuts that no choice of the form uses
    finishing_field: Field | None  # the only required field, if a key of it finishes the item
    unfilled: Typed
    version: str  # of the questions
    _cache: dict[str, Markup] = field(default_factory=dict)  # HTML that is the same for every item

    def initial_input(self, lease: Lease, form: Json) -> Input:
        """What the inputs of a lease show at first: its draft, else what the form prefills."""
        typed = typed_of(self.fields, lease.draft, prefilled(form, lease.payload))
        return Input(typed, gone_in_draft(self.fields, lease.draft) if lease.draft is not None else {})

    def submitted_input(self, form: MultiDict[str, str]) -> Input:
        return Input(read_typed(self.fields, form), gone_in_form(self.fields, form))

    def read(self, form: MultiDict[str, str]) -> tuple[dict[str, Json], dict[str, str]]:
        """The submitted result, and the errors by field; one of them if the form has changed and the
        person has not seen these questions yet."""
        result, errors = read_result(self.fields, read_typed(self.fields, form))
        if form.get("questions", self.version) != self.version or unseen_in_form(self.fields, form):
            errors = {"questions": str(_("The questions have changed since this page was opened.")), **errors}
        return result, errors

    def inputs(self, input: Input, errors: Mapping[str, str]) -> Markup:
        """The form's inputs as HTML. Those of an unfilled form are cached."""
        if errors or input.gone or input.typed != self.unfilled:
            return self._inputs(input, errors)
        if "inputs" not in self._cache:
            self._cache["inputs"] = self._inputs(input, errors)
        return self._cache["inputs"]

    def item_actions(self, item_url: str, typed: Mapping[str, str], errors: Mapping[str, str]) -> Markup:
        """The actions to give back, report and ask, as HTML. ``item_url`` ends with a slash."""
        if errors or any(typed.get(name) for name in TEXT_FIELDS):
            return self._item_actions(item_url, typed, errors)
        if "item_actions" not in self._cache:
            self._cache["item_actions"] = self._item_actions(_URL_MARK, {}, {})
        return self._cache["item_actions"].replace(_URL_MARK, escape(item_url))

    def notices(self) -> Markup:
        """The notices that the page's script shows, as HTML."""
        if "notices" not in self._cache:
            template = current_app.jinja_env.get_or_select_template("work/notices.html")
            self._cache["notices"] = Markup(template.render(keys=self.keys))  # noqa: S704 - our own template
        return self._cache["notices"]

    def _item_actions(self, item_url: str, typed: Mapping[str, str], errors: Mapping[str, str]) -> Markup:
        urls = {verb: item_url + verb for verb in ("abandon", "fail", "ask")}
        macros: Any = current_app.jinja_env.get_or_select_template("work/item_actions.html").module
        html: Markup = macros.item_actions(self.keys, urls, typed, errors)
        return html

    def _inputs(self, input: Input, errors: Mapping[str, str]) -> Markup:
        macros: Any = current_app.jinja_env.get_or_select_template("work/fields.html").module
        html: Markup = macros.gone_section(self.version, gone_answers(self.fields, input.gone))
        html += macros.all_fields(self.fields, input.typed, errors, self.finishing_field)
        return html


def form_view_of(form: Json) -> FormView:
    return _cached_form_view(json.dumps(form), language())


@lru_cache(maxsize=256)
def _cached_form_view(text: str, _language: str) -> FormView:
    form = json.loads(text)
    fields = fields_of(form)
    by_name = {field.name: field for field in fields}
    questions = {name: form.get(name) for name in ("ask", "when")} if isinstance(form, dict) else None
    return FormView(
        fields,
        by_name,
        _free_keys(fields),
        _finishing_field(fields),
        typed_of(fields, None),
        version(questions),
    )


def _free_keys(fields: Iterable[Field]) -> dict[str, str]:
    used_keys = {choice.key.lower() for field in fields for choice in field.choices if choice.key}
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
