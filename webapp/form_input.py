"""The input of a refused form, to send again unchanged, or to read and copy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from flask import current_app, request
from flask_babel import gettext as _
from flask_wtf.csrf import validate_csrf
from werkzeug.exceptions import HTTPException
from wtforms.validators import ValidationError

from leaseq.policy import FIELDS
from leaseq.webapp.origins import origin_of
from leaseq.webapp.serving.bodies import lines_of
from leaseq.webapp.serving.time_slices import in_slices

_HIDDEN_NAMES = frozenset(
    {
        "csrf_token", "token", "request_id", "message", "next", "back", "then", "last", "search",
        "began", "which", "total", "move", "start", "at", "act", "after", "done", "all", "only", "id",
        "scanned", "layout", "columns_chosen", "again", "active_ms", "envelope", "skip", "sort", "order",
        "confirmed", "revoke_tokens", "questions", "more_rows",
    }
)  # fmt: skip
"""Fields that the page itself filled in, or that are only ticked."""

_DATA_PREFIX = re.compile(r"^(answer|gone|text|value)\.")
"""The prefix of an input's name, if its field is from a queue's form or a payload."""

DIGEST_PREFIX = "seen_"
"""The prefix of the name of a hidden field with a digest: of the text that the page had in another field."""


@dataclass(frozen=True, slots=True)
class InputField:
    label: str  # the label on the form's page, else the field's name
    text: str

    @property
    def rows(self) -> int:
        """The height of its box in lines, if the browser doesn't fit it to the text."""
        return min(self.text.count("\n") + 1 + len(self.text) // 80, 12)


def digest_of(text: str) -> str:
    return sha256(lines_of(text).strip().encode("utf-8", "surrogatepass")).hexdigest()[:32]


def resendable_fields() -> list[tuple[str, str]]:
    """The fields of a form that can't be processed now, which the error page can send again, so that no input
    is lost. Empty for a form with a password, or without a valid CSRF token.
    """
    fields = _form_fields() if request.mimetype == "application/x-www-form-urlencoded" else []
    return (
        [(name, value) for name, value in fields if name != "csrf_token"] if fields and _has_token() else []
    )


def input_fields() -> list[InputField]:
    """The texts typed into a form of this app. Empty for a form with a password, and for one on another
    site's page, which could otherwise show any text here."""
    fields = _form_fields()
    if not fields or not (_is_same_origin() or _has_token()):
        return []
    labels = _labels()
    return [
        InputField(labels.get(name) or _DATA_PREFIX.sub("", name, count=1), value)
        for name, value in in_slices(fields)
        if value.strip() and not _is_hidden(name) and not _is_unchanged(name, value)
    ]


def _form_fields() -> list[tuple[str, str]]:
    view = current_app.view_functions.get(request.endpoint or "")
    if request.method != "POST" or getattr(view, "takes_any_size", False):  # an upload is not a form
        return []
    try:
        fields = list(request.form.items(multi=True))
    except HTTPException:  # over the limits of a form
        return []
    return [] if any(_is_secret(name) for name, _ in fields) else fields


def _has_token() -> bool:
    try:
        validate_csrf(request.form.get("csrf_token"))
    except ValidationError:
        return False
    return True


def _is_same_origin() -> bool:
    origin = request.headers.get("Origin")
    return origin is not None and origin_of(origin) == origin_of(request.host_url) is not None


def _is_secret(name: str) -> bool:
    """Only for the pages' own fields: names of fields of a payload or an answer have a dot."""
    return name == "code" or "password" in name.partition(".")[0]


def _is_hidden(name: str) -> bool:
    return name in _HIDDEN_NAMES or name.startswith(("was.", DIGEST_PREFIX)) or name.endswith(".unit")


def _is_unchanged(name: str, value: str) -> bool:
    """Whether the page already had this text there, according to the form's hidden fields."""
    form = request.form
    digest = form.get(DIGEST_PREFIX + name)
    return value == form.get(f"was.{name}") or (digest is not None and digest == digest_of(value))


def _labels() -> dict[str, str]:
    """The labels of fields on their pages. Names with several meanings are left out."""
    return {
        **{name: str(_(field.label)) for name, field in FIELDS.items()},
        "text": _("Message"),
        "question": _("What do you want to ask your manager?"),
        "reason": _("Reason"),
        "error": _("What is wrong with it?"),
        "note": _("What should others know about it?"),
        "payload": _("Content, as JSON"),
        "json": _("Content, as JSON"),
        "priority": _("Priority"),
        "requires": _("Skills"),
        "skills": _("Skills"),
        "team": _("Team"),
        "due": _("Due date"),
        "person": _("Assign to"),
        "to": _("For"),
        "role": _("Role"),
        "name": _("Name"),
        "token_name": _("What is it for?"),
        "sample": _("Example item"),
        "url": _("URL"),
    }
