"""The form that changes a waiting or failed item: priority, due date, skills and payload."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from flask_babel import gettext as _

import leaseq
from leaseq import Invalid, validation
from leaseq.webapp.numbers import whole_number_in
from leaseq.webapp.rendering.filters import pretty
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.site_time import clock_text, typed_moment
from leaseq.webapp.typed import DIGEST_PREFIX, digest_of, lines_of

FIELDS = ("priority", "due", "requires", "payload")


@dataclass(frozen=True, slots=True)
class ChangeForm:
    """The texts of the form's fields. Only fields whose text differs from the page's are changed, so that
    changes by others in the meantime stay."""

    texts: Mapping[str, str]
    digests: Mapping[str, str]  # by field: a digest of its text in the page
    let_in: bool = False
    field_error: Invalid | None = None
    unmet: tuple[str, ...] = ()  # the page asks whether they are right

    @property
    def error(self) -> str | None:
        return _("Not changed: %(why)s.", why=in_words(self.field_error)) if self.field_error else None

    def with_error(self, error: Invalid) -> ChangeForm:
        return replace(self, field_error=error)

    def asking(self, unmet: tuple[str, ...]) -> ChangeForm:
        return replace(self, unmet=unmet)

    def changes(self) -> leaseq.ItemChanges:
        """The changes. Raises Invalid for a text that can't be read; the library checks the values."""
        changes: dict[str, Any] = {
            name: value_of(name, text)
            for name, text in self.texts.items()
            if digest_of(text) != self.digests.get(name)
        }
        if self.let_in:
            changes["delay"] = 0
        return cast("leaseq.ItemChanges", changes)


def form_of(item: leaseq.Item) -> ChangeForm:
    """The initial form. It contains the payload only while that can be changed."""
    texts = {
        "priority": str(item.priority),
        "due": clock_text(item.due) if item.due else "",
        "requires": " ".join(item.requires),
    }
    if not item.leases and not item.answers:
        texts["payload"] = pretty(item.payload)
    return ChangeForm(texts, {name: digest_of(text) for name, text in texts.items()})


def read_form(form: Mapping[str, str]) -> ChangeForm:
    """The submitted form."""
    texts = {name: lines_of(form[name]) for name in FIELDS if name in form}
    return ChangeForm(texts, {name: form.get(DIGEST_PREFIX + name, "") for name in texts}, "let_in" in form)


def names_of(changes: leaseq.ItemChanges) -> str:
    """The names of the changed fields, in words."""
    words = {
        "priority": _("priority"),
        "due": _("due date"),
        "requires": _("skills"),
        "payload": _("payload"),
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
        raise Invalid("priority", f"a whole number from 0 to {validation.MAX_PRIORITY:,}")
    return number


def _due(text: str) -> datetime | None:
    return typed_moment(text, "due") if text else None


def _requires(text: str) -> list[str]:
    return list(validation.skills([word for word in re.split(r"[\s,]+", text) if word], "requires"))


_READERS: dict[str, Any] = {
    "priority": _priority,
    "due": _due,
    "requires": _requires,
    "payload": lambda text: validation.load_json(text, "payload"),
}
