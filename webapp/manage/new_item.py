"""The form that adds one item: an input for each field of the payload, and the item's own properties."""

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

MOST_FIELDS = 30  # beyond these the payload is written as JSON
OPTIONS = ("json", "id", "priority", "requires")
_TEXT, _JSON = "text.", "value."  # what the names of the inputs begin with


@dataclass(frozen=True, slots=True)
class PayloadField:
    """A field of the payload, by the name that the queue's items have for it."""

    name: str
    text: str
    is_text: bool  # else it is written as JSON: a number, true or false, a list or a record

    @property
    def input_name(self) -> str:
        return (_TEXT if self.is_text else _JSON) + self.name

    def value(self) -> Json:
        return self.text if self.is_text else validation.load_json(self.text, self.name)


@dataclass(frozen=True, slots=True)
class NewItemForm:
    """The form as it is opened, or as it was sent."""

    fields: list[PayloadField]
    request_id: str  # of the item: sending the form twice adds one
    texts: Mapping[str, str] = field(default_factory=dict)  # of the options
    wrong: Invalid | None = None

    def with_error(self, error: Invalid) -> NewItemForm:
        return replace(self, wrong=error)

    def add_to(self, queue: leaseq.Queue) -> tuple[leaseq.Enqueued, Json]:
        """Add the item; returns its payload as well. Raises Invalid."""
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
    """The form as it is opened: the fields of an item that waits, else those that the queue's form shows."""
    sample = sample_of(queue.policy.form, payloads_of(queue))
    payload = sample if isinstance(sample, dict) else {"text": ""}
    fields = [
        PayloadField(name, "", isinstance(value, str)) for name, value in list(payload.items())[:MOST_FIELDS]
    ]
    return NewItemForm(fields, secrets.token_hex(8))


def read_form(form: Mapping[str, str]) -> NewItemForm:
    """The form as it was sent."""
    fields = [
        PayloadField(name.removeprefix(prefix), text.replace("\r\n", "\n"), prefix == _TEXT)
        for name, text in form.items()
        for prefix in (_TEXT, _JSON)
        if name.startswith(prefix)
    ]
    texts = {name: form.get(name, "") for name in OPTIONS}
    return NewItemForm(fields, form.get("request_id", ""), texts)
