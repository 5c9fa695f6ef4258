"""The forms of items, new or changed, with their preview."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from flask_babel import gettext as _

import leaseq
from leaseq import Invalid, Json, validation
from leaseq.form import prefilled
from leaseq.webapp.context import max_file_bytes
from leaseq.webapp.form_input import DIGEST_PREFIX, digest_of
from leaseq.webapp.forms.fields import fields_of, in_app
from leaseq.webapp.forms.linter import check_text
from leaseq.webapp.forms.parsing import inputs_of
from leaseq.webapp.forms.templates import missing_fields
from leaseq.webapp.i18n import whole_number_in
from leaseq.webapp.refusals import in_words, reason_of
from leaseq.webapp.rendering.filters import pretty
from leaseq.webapp.rendering.payload import parts_of
from leaseq.webapp.serving.bodies import lines_of, whole_number
from leaseq.webapp.site_time import clock_text, read_moment

SAMPLE_SIZE = 50  # payloads to guess a form from and to preview it with


def preview_of(inputs: Mapping[str, str], payloads: Sequence[Json]) -> dict[str, Any]:
    """The context of the preview's template, from the edited settings, the example item, and some of the
    queue's payloads."""
    checked_form = check_text(inputs.get("form", ""))
    form, is_valid = checked_form.form, checked_form.is_valid
    at = whole_number(inputs.get("at"))
    sample, sample_error = _sample(inputs.get("sample", ""))
    fields = in_app(fields_of(form), max_file_bytes()) if is_valid else ()
    return {
        "checked_form": checked_form,
        "sample_error": sample_error,
        "item_index": at if at is not None and at < len(payloads) else None,
        "item_count": len(payloads),
        "missing_fields": missing_fields(form, payloads) if is_valid else [],
        "parts": parts_of(form, sample) if is_valid else [],
        "fields": fields,
        "values": inputs_of(fields, None, prefilled(form, sample)) if is_valid else {},
    }


def _sample(text: str) -> tuple[Json, str]:
    try:
        return (validation.load_json(text, "sample") if text.strip() else None), ""
    except Invalid as error:
        return None, reason_of(error)


def payloads_of(queue: leaseq.Queue) -> list[Json]:
    """Some payloads of the queue: of waiting items, else of finished ones."""
    for state in ("inbound", "finished"):
        items = queue.page(state, limit=SAMPLE_SIZE).items
        if items:
            return [item.payload for item in items]
    return []


def sample_of(form: Json, payloads: Sequence[Json]) -> Json:
    """A payload of the queue, else a made-up one with the fields that the form shows."""
    if payloads:
        return payloads[0]
    entries = form.get("show") if isinstance(form, dict) else None
    names = [entry if isinstance(entry, str) else entry.get("field", "") for entry in entries or ["text"]]
    return {name: f"({name})" for name in names}


FIELDS = ("priority", "due", "requires", "payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemForm:
    """The refused parts of a submitted form."""

    field_error: Invalid | None = None
    unmet: tuple[str, ...] = ()  # skills: the page asks whether they are right


@dataclass(frozen=True, slots=True)
class ChangeForm(ItemForm):
    """The texts of the form's fields. Only fields whose text differs from the page's are changed, so that
    changes by others in the meantime stay."""

    texts: Mapping[str, str]
    digests: Mapping[str, str]  # by field: a digest of its text in the page
    available_now: bool = False

    @property
    def error(self) -> str | None:
        return _("Not changed: %(why)s.", why=in_words(self.field_error)) if self.field_error else None

    def changes(self) -> leaseq.ItemChanges:
        """The changes. Raises Invalid for a text that can't be read; the library checks the values."""
        changes: dict[str, Any] = {
            name: value_of(name, text)
            for name, text in self.texts.items()
            if digest_of(text) != self.digests.get(name)
        }
        if self.available_now:
            changes["delay"] = 0
        return cast("leaseq.ItemChanges", changes)


def changed_form(item: leaseq.Item) -> ChangeForm:
    """The initial form. It contains the payload only while that can be changed."""
    texts = {
        "priority": str(item.priority),
        "due": clock_text(item.due) if item.due else "",
        "requires": " ".join(item.requires),
    }
    if not item.leases and not item.answers:
        texts["payload"] = pretty(item.payload)
    return ChangeForm(texts, {name: digest_of(text) for name, text in texts.items()})


def read_change(form: Mapping[str, str]) -> ChangeForm:
    """The submitted form."""
    texts = {name: lines_of(form[name]) for name in FIELDS if name in form}
    digests = {name: form.get(DIGEST_PREFIX + name, "") for name in texts}
    return ChangeForm(texts, digests, "available_now" in form)


def names_of(changes: leaseq.ItemChanges) -> str:
    """The names of the changed fields, in words."""
    words = {
        "priority": _("priority"),
        "due": _("due date"),
        "requires": _("skills"),
        "payload": _("content"),
        "delay": _("time"),
        "answers": _("answers"),
    }
    return ", ".join(words[name] for name in words if name in changes)


def value_of(name: str, text: str) -> Any:
    """Parse the text of a field. Raises Invalid for a text that can't be read."""
    return _READERS[name](text.strip())


def _priority(text: str) -> int:
    number = whole_number_in(text, "priority")
    if number is None:
        raise Invalid("priority", "range", minimum=0, maximum=validation.MAX_PRIORITY, value=text)
    return number


_READERS: dict[str, Any] = {
    "priority": _priority,
    "due": lambda text: read_moment(text, "due") if text else None,
    "requires": lambda text: list(validation.skills(re.findall(r"[^\s,]+", text), "requires")),
    "payload": lambda text: validation.load_json(text, "payload"),
}

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
class NewItemForm(ItemForm):
    """The form, initial or submitted."""

    fields: list[PayloadField]
    request_id: str  # so that sending the form twice adds one item
    texts: Mapping[str, str] = field(default_factory=dict)  # by option

    def requires(self) -> list[str]:
        """The skills. Raises Invalid."""
        skills: list[str] = value_of("requires", self.texts.get("requires", ""))
        return skills

    def item(self) -> leaseq.NewItem:
        """The item. Raises Invalid."""
        payload = self._payload()
        properties: dict[str, Any] = {
            name: value_of(name, self.texts[name])
            for name in ("priority", "requires")
            if self.texts.get(name, "").strip()
        }
        return leaseq.NewItem(payload, self.texts.get("id", "").strip() or None, **properties)

    def _payload(self) -> Json:
        text = self.texts.get("json", "")
        if text.strip():
            return validation.load_json(text, "json")
        payload = {field.name: field.value() for field in self.fields if field.text.strip()}
        if not payload:
            raise Invalid("payload", "page", what="empty_item")
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
