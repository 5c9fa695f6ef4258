"""The cached part of the work page, which depends only on the queue's form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flask import current_app
from markupsafe import Markup, escape

from leaseq import Json
from leaseq.webapp.forms import Field, Typed, fields_of, typed_of
from leaseq.webapp.i18n import language

PAGE_KEYS = ("k", "l", "n", "g", "b", "a", "t", "u", "h")
"""The work page's own keys: renew, later, not for me, note, broken, ask, take back, undo, help."""

TEXT_FIELDS = ("reason", "error", "note", "question")
"""The text fields of the actions give back, report and ask."""

_URL_MARK = "\0"  # occurs in no page


@dataclass(frozen=True, slots=True, eq=False)
class FormView:
    """The form of a queue, prepared for the page in one language."""

    fields: tuple[Field, ...]
    by_name: Mapping[str, Field]
    keys: Mapping[str, str]  # the page's shortcuts that no choice of the form uses
    finishing_field: Field | None  # the only required field, if a key of it finishes the item
    unfilled: Typed
    _cache: dict[str, Markup] = field(default_factory=dict)  # HTML that is the same for every item

    def inputs(self, typed: Typed, errors: Mapping[str, str]) -> Markup:
        """The form's inputs as HTML. Those of an unfilled form are cached."""
        if errors or typed != self.unfilled:
            return self._inputs(typed, errors)
        if "inputs" not in self._cache:
            self._cache["inputs"] = self._inputs(typed, errors)
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

    def _inputs(self, typed: Typed, errors: Mapping[str, str]) -> Markup:
        macros: Any = current_app.jinja_env.get_or_select_template("work/fields.html").module
        html: Markup = macros.all_fields(self.fields, typed, errors, self.finishing_field)
        return html


def form_view_of(form: Json) -> FormView:
    return _cached_form_view(json.dumps(form), language())


@lru_cache(maxsize=256)
def _cached_form_view(text: str, _language: str) -> FormView:
    fields = fields_of(json.loads(text))
    by_name = {field.name: field for field in fields}
    return FormView(fields, by_name, _free_keys(fields), _finishing_field(fields), typed_of(fields, None))


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
