"""The form that adds one item: an input for each payload field, and the item's properties."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flask_babel import gettext as _

import leaseq
from leaseq import Invalid, Json, validation
from leaseq.webapp.manage.change import value_of
from leaseq.webapp.manage.preview import payloads_of, sample_of

MAX_FIELDS = 30  # beyond these the payload is written as JSON
OPTIONS = ("json", "id", "priority", "requires")
_TEXT, _JSON = "text.", "value."  # prefixes of the inputs' names


@dataclass(frozen=True, slots=True)
class PayloadField:
    """A payload field, named as in the queue's items."""

    name: str
    text: str
    is_text: bool  # otherwise it is typed as JSON: a number, true or false, a list or an object

    @property
    def input_name(self) -> str:
        return (_TEXT if self.is_text else _JSON) + self.name

    def value(self) -> Json:
        return self.text if self.is_text else validation.load_json(self.text, self.name)


@dataclass(frozen=True, slots=True)
class NewItemForm:
    """The form, initial or submitted."""

    fields: list[PayloadField]
    request_id: str  # so that sending the form twice adds one item
    texts: Mapping[str, str] = field(default_factory=dict)  # by option
    field_error: Invalid | None = None
    unmet: tuple[str, ...] = ()  # the page asks whether they are right

    def asking(self, unmet: tuple[str, ...]) -> NewItemForm:
        return replace(self, unmet=unmet)

    def requires(self) -> list[str]:
        """The skills. Raises Invalid."""
        skills: list[str] = value_of("requires", self.texts.get("requires", ""))
        return skills

    def with_error(self, error: Invalid) -> NewItemForm:
        return replace(self, field_error=error)

    def add_to(self, queue: leaseq.Queue) -> tuple[leaseq.Enqueued, Json]:
        """Add the item and return its payload too. Raises Invalid."""
        payload = self._payload()
        properties: dict[str, Any] = {
            name: value_of(name, self.texts[name])
            for name in ("priority", "requires")
            if self.texts.get(name, "").strip()
        }
        id = self.texts.get("id", "").strip() or None
        return queue.enqueue(payload, id=id, request_id=self.request_id or None, **properties), payload

    def _payload(self) -> Json:
        text = self.texts.get("json", "")
        if text.strip():
            return validation.load_json(text, "json")
        payload = {one.name: one.value() for one in self.fields if one.text.strip()}
        if not payload:
            raise Invalid("payload", "at least one field", _("Fill in at least one field of the item."))
        return payload


def form_of(queue: leaseq.Queue) -> NewItemForm:
    """The initial form, with the fields of an item of the queue, else those that the queue's form shows."""
    sample = sample_of(queue.policy.form, payloads_of(queue))
    payload = sample if isinstance(sample, dict) else {"text": ""}
    fields = [
        PayloadField(name, "", isinstance(value, str)) for name, value in list(payload.items())[:MAX_FIELDS]
    ]
    return NewItemForm(fields, secrets.token_hex(8))


def read_form(form: Mapping[str, str]) -> NewItemForm:
    """The submitted form."""
    fields = [
        PayloadField(name.removeprefix(prefix), text.replace("\r\n", "\n"), prefix == _TEXT)
        for name, text in form.items()
        for prefix in (_TEXT, _JSON)
        if name.startswith(prefix)
    ]
    texts = {name: form.get(name, "") for name in OPTIONS}
    return NewItemForm(fields, form.get("request_id", ""), texts)
