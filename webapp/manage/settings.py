"""The settings of a queue, as a form."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import format_decimal, gettext
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, Json, Policy, validation
from leaseq.policy import FIELDS
from leaseq.policy import GROUPS as TITLES
from leaseq.policy_fields import (
    MAX_ALERT_LIMIT,
    Alerts,
    Bands,
    Boolean,
    Field,
    Form,
    Integer,
    Line,
    OneOf,
    Seconds,
    Text,
)
from leaseq.webapp.context import existing_queue, state, wants_fragment
from leaseq.webapp.forms.fields import QUESTION_KINDS, SHOWN_KINDS
from leaseq.webapp.forms.linter import Finding, check_text
from leaseq.webapp.forms.templates import field_names, form_template, form_templates, guess_form
from leaseq.webapp.i18n import number_text, read_number
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.dashboard import suggestion_of
from leaseq.webapp.manage.item_forms import payloads_of, preview_of, sample_of
from leaseq.webapp.manage.items import warn_of_lookalike
from leaseq.webapp.paths import current_path
from leaseq.webapp.realtime.attention import some_need_more_answers
from leaseq.webapp.refusals import reason_of
from leaseq.webapp.rendering.filters import pretty
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import queues
from leaseq.webapp.serving.bodies import lines_of, whole_number

UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
_SPAN = re.compile(r"([^\sa-zA-Z]+)\s*(d|h|min|m|s)?\s*")
_PLAIN_NUMBER = re.compile(r"\s*[^\sa-zA-Z]+\s*")
_DEFAULTS = Policy()


@dataclass(frozen=True, slots=True)
class Setting:
    """The form field of one policy field. Texts are in the language of the request."""

    field: Field

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def label(self) -> str:
        return str(gettext(self.field.label))

    @property
    def help(self) -> str:
        """The help text: the help sentence, the allowed values, the meaning of an empty field, and the
        default."""
        sentences = [str(gettext(self.field.help)), self._limits()]
        if self.field.none:
            sentences.append(str(gettext("Empty: %(meaning)s.", meaning=gettext(self.field.none))))
        value = getattr(_DEFAULTS, self.name)
        default = span_text(value) if self.units and value is not None else self.write(_DEFAULTS)
        if default and self.control not in ("tick", "choice"):
            sentences.append(str(gettext("Default: %(value)s.", value=default)))
        return " ".join(filter(None, sentences))

    @property
    def control(self) -> str:
        """The kind of input."""
        match self.field.kind:
            case Boolean():
                return "tick"
            case OneOf():
                return "choice"
            case Form():
                return "code"
            case Line() | Alerts():
                return "line"
            case Text():
                return "area"
        return "short"

    @property
    def choices(self) -> dict[str, str]:
        kind = self.field.kind
        labels = kind.choices if isinstance(kind, OneOf) else {}
        return {choice: str(gettext(meaning)) for choice, meaning in labels.items()}

    @property
    def longest(self) -> int | None:
        """The maximum length of a line. Longer text is refused, not truncated, so that nothing is lost."""
        return self.field.kind.max_length if isinstance(self.field.kind, Line) else None

    @property
    def is_whole(self) -> bool:
        """Whether a phone should offer only digits. The input is still a text input: a number input sends an
        empty text if its content is no number, and here an empty text may mean "no limit"."""
        return isinstance(self.field.kind, Integer)

    @property
    def units(self) -> dict[str, str]:
        """The units on offer for a duration; empty for other fields."""
        return {unit: str(gettext(unit)) for unit in UNITS} if isinstance(self.field.kind, Seconds) else {}

    @property
    def unit(self) -> str:
        """The unit shown next to a number's input."""
        return str(gettext(self.field.kind.unit)) if isinstance(self.field.kind, Integer) else ""

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into number and unit for the page. Other texts stay whole."""
        match = _SPAN.fullmatch(text) if self.units else None
        return (match[1], {"m": "min"}.get(match[2], match[2]) or "s") if match else (text, "s")

    def join(self, text: str, unit: str) -> str:
        """Join an input's text and its unit. A text with its own units, like 1 h 30 min, stays as it is."""
        return f"{text.strip()} {unit}" if unit in self.units and _PLAIN_NUMBER.fullmatch(text) else text

    def write(self, policy: Policy) -> str:
        """The policy field's value as text."""
        value = getattr(policy, self.name)
        if value is None:
            return ""
        match self.field.kind:
            case Form():
                return json.dumps(value, ensure_ascii=False, indent=2)
            case Seconds():
                return " ".join(number_and_unit(value))
            case Boolean():
                return "yes" if value else ""
            case Bands() | Alerts():
                return " ".join(map(str, value))
        return str(value)

    def read(self, text: str) -> Json:
        """Parse a text. Raises Invalid."""
        if self.control == "area":
            return text
        text = text.strip()
        if not text and self.field.none:
            return None
        match self.field.kind:
            case Boolean():
                return text == "yes"
            case Integer():
                return read_number(text, self.name, whole=True)
            case Seconds():
                return _seconds(self.name, text)
            case Bands():
                return tuple(
                    read_number(part, self.name, whole=True) for part in text.replace(",", " ").split()
                )
            case Form():
                return validation.load_json(text, self.name)
            case Alerts() as kind:
                return kind.parse(text)
        return text

    def _limits(self) -> str:
        match self.field.kind:
            case Integer(minimum, maximum, unit):
                ends = {"least": format_decimal(minimum), "most": format_decimal(maximum)}
                return str(gettext("%(least)s to %(most)s %(unit)s.", unit=gettext(unit), **ends))
            case Seconds(minimum, maximum):
                ends = {"least": span_text(minimum), "most": span_text(maximum)}
                return str(gettext("%(least)s to %(most)s.", **ends))
            case Bands(minimum, maximum):
                ends = {"least": format_decimal(minimum), "most": format_decimal(maximum)}
                return str(gettext("%(least)s to %(most)s, the first no larger than the second.", **ends))
            case Text(longest):
                return str(gettext("At most %(count)s characters.", count=format_decimal(longest)))
            case Alerts(measures):
                meanings = "; ".join(f"{name}: {gettext(meaning)}" for name, meaning in measures.items())
                ends = {"least": format_decimal(0), "most": format_decimal(MAX_ALERT_LIMIT)}
                return f"{meanings}. " + str(gettext("%(least)s to %(most)s each.", **ends))
        return ""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of the page's fields."""

    id: str
    settings: tuple[Setting, ...]

    @property
    def title(self) -> str:
        return str(gettext(TITLES[self.id]))


SETTINGS = tuple(Setting(field) for field in FIELDS.values())
GROUPS = tuple(
    Group(id, tuple(setting for setting in SETTINGS if setting.field.group == id)) for id in TITLES
)


def texts_of(policy: Policy) -> dict[str, str]:
    """The text of each field of a policy."""
    return {setting.name: setting.write(policy) for setting in SETTINGS}


def read_all(inputs: Mapping[str, str]) -> tuple[dict[str, Json], dict[str, str]]:
    """The values, and the errors by field."""
    values: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for setting in SETTINGS:
        if setting.name not in inputs:
            continue
        try:
            values[setting.name] = setting.read(inputs[setting.name])
        except Invalid as error:
            errors[setting.name] = reason_of(error)
    return values, errors


def number_and_unit(seconds: float) -> tuple[str, str]:
    """A duration as a whole number of the largest possible unit, such as 90 and min."""
    unit = next((unit for unit, size in UNITS.items() if seconds and seconds % size == 0), "s")
    return f"{seconds / UNITS[unit]:f}".rstrip("0").rstrip("."), unit


def span_text(seconds: float) -> str:
    """A duration in full, as ``read`` accepts it: ``1 h 30 min``."""
    if seconds != int(seconds):
        return f"{number_text(seconds)} s"
    parts: list[str] = []
    remaining = int(seconds)
    for unit, size in UNITS.items():
        count, remaining = divmod(remaining, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"


def _seconds(name: str, text: str) -> Json:
    """Parse a duration such as ``90``, ``1 h 30 min`` or ``1.5 h`` into seconds."""
    parts = list(_SPAN.finditer(text))
    is_whole = "".join(part.group() for part in parts) == text
    if not parts or not is_whole or (len(parts) > 1 and not all(part[2] for part in parts)):
        raise Invalid(name, "format", what="duration", value=text)
    sizes = {**UNITS, "m": 60}
    seconds = round(sum(read_number(part[1], name) * sizes[part[2] or "s"] for part in parts), 6)
    return int(seconds) if seconds == int(seconds) else seconds


Texts = Mapping[str, str]


@bp.get("/manage/<q>/settings")
@needs("manager")
def settings(q: str) -> str:
    queue = existing_queue(q)
    policy = queue.policy
    texts = texts_of(policy)
    payloads = payloads_of(queue)
    sample = {"sample": pretty(sample_of(policy.form, payloads)), "at": "0" if payloads else ""}
    return _page(queue, {**texts, **sample}, texts)


@bp.post("/manage/<q>/settings")
@needs("manager")
def save_settings(q: str) -> Response | tuple[str, int]:
    """Save the fields that this person changed; save nothing if somebody else has changed one of them since.

    Other fields that were changed in the meantime keep their new value, and the page says so. If the policy
    has changed since the comparison, the save fails and the comparison is repeated.
    """
    queue = existing_queue(q)
    while True:
        with contextlib.suppress(leaseq.PolicyChanged):
            return _save(queue, queue.policy)


def _save(queue: leaseq.Queue, policy: leaseq.Policy) -> Response | tuple[str, int]:
    inputs, texts = _input_texts(), {name: lines_of(text) for name, text in texts_of(policy).items()}
    before = {**texts, **_texts_before()}
    changes = {name: text for name, text in inputs.items() if text != before.get(name) and name in texts}
    others = [name for name in texts if texts[name] != before[name] and texts[name] != changes.get(name)]
    if any(name in changes for name in others):
        conflicts = {name: (texts[name], changes.get(name)) for name in others}
        return _page(
            queue,
            {**texts, **changes, "sample": inputs["sample"], "at": inputs["at"]},
            texts,
            conflicts=conflicts,
        ), 409
    values, errors = read_all(changes)
    if "form" in changes and not (checked_form := check_text(changes["form"])).is_valid:
        errors["form"] = _finding_text(checked_form.findings[0])
    if not errors and values:
        try:
            queues.configure(queue, policy, expected=policy, **values)
        except Invalid as error:
            errors[error.field] = reason_of(error)
    if errors:
        return _page(queue, {**texts, **inputs}, before, errors=errors), 400
    flash(_("Saved.") if values else _("No setting was different."))
    if "title" in values:
        warn_of_lookalike(queue, queue.policy.title)
    if others:
        names = ", ".join(setting.label for setting in SETTINGS if setting.name in others)
        flash(
            _(
                "Somebody else changed these settings in the meantime, and their values are kept: %(names)s.",
                names=names,
            )
        )
    if values.get("answers", policy.answers) < policy.answers and some_need_more_answers(queue):
        return redirect(url_for("manage.confirm_lower", q=queue.name), 303)
    return redirect(url_for("manage.one_queue", q=queue.name), 303)


@bp.post("/manage/<q>/settings/preview")
@needs("manager")
def preview_settings(q: str) -> str:
    """Preview the form as typed, with the example item or another item of the queue. Nothing is saved."""
    queue, inputs = existing_queue(q), _input_texts()
    payloads = payloads_of(queue)
    item = whole_number(request.form.get("item"))
    if item is not None and item < len(payloads):  # another item of the queue was chosen
        inputs = {**inputs, "sample": pretty(payloads[item]), "at": str(item)}
    if wants_fragment():
        return render_template(
            "manage/form_preview.html",
            form_values=inputs,
            preview_url=current_path(),
            **preview_of(inputs, payloads),
        )
    texts = texts_of(queue.policy)
    return _page(queue, {**texts, **inputs}, {**texts, **_texts_before()})


@bp.post("/manage/<q>/settings/start")
@needs("manager")
def apply_template(q: str) -> str:
    """Fill in a template or a guessed form. Nothing is saved, and all other input stays."""
    queue, inputs = existing_queue(q), _input_texts()
    texts = texts_of(queue.policy)
    if request.form.get("from") == "items":
        return _page(
            queue,
            {**texts, **inputs, **_guess_texts(queue)},
            {**texts, **_texts_before()},
            template_title=_("From the items"),
        )
    template = form_template(request.form.get("from", ""))
    if template is None:
        raise Invalid(
            "from",
            "one_of",
            choices=["items", *(template.name for template in form_templates())],
            value=request.form.get("from", ""),
        )
    template_texts = {"form": pretty(template.form), "sample": pretty(template.sample), "at": ""}
    if not inputs.get("instructions", "").strip():
        template_texts["instructions"] = template.instructions
    return _page(
        queue,
        {**texts, **inputs, **template_texts},
        {**texts, **_texts_before()},
        template_title=template.title,
    )


def _guess_texts(queue: leaseq.Queue) -> dict[str, str]:
    """The form guessed from the payloads, with the existing form's questions."""
    payloads = payloads_of(queue)
    new_form = guess_form(payloads)
    if new_form is None:
        raise Invalid("from", "page", what="no_fields")
    old_form = queue.policy.form
    old_parts = (
        {name: part for name, part in old_form.items() if name != "show"}
        if isinstance(old_form, dict)
        else {}
    )
    if "ask" in old_parts:
        new_form = {"show": new_form["show"]} if "show" in new_form else {}
    return {"form": pretty({**new_form, **old_parts}), "sample": pretty(payloads[0]), "at": "0"}


def _input_texts() -> dict[str, str]:
    """The page's input. An unticked box sends nothing, so that its absence counts as empty."""
    form = {name: lines_of(text) for name, text in request.form.items()}
    texts = {
        setting.name: setting.join(form.get(setting.name, ""), form.get(f"{setting.name}.unit", ""))
        for setting in SETTINGS
        if setting.name in form or setting.control == "tick"
    }
    if form.get("suggested"):  # its button also saves all other input
        texts["lease_seconds"] = form["suggested"]
    return {**texts, "sample": form.get("sample", ""), "at": form.get("at", "")}


def _texts_before() -> dict[str, str]:
    """The settings when the page was rendered."""
    return {
        name.removeprefix("was."): lines_of(text)
        for name, text in request.form.items()
        if name.startswith("was.")
    }


def _finding_text(finding: Finding) -> str:
    return (
        _("Line %(line)s: %(what)s", line=finding.line, what=finding.text) if finding.line else finding.text
    )


def _page(
    queue: leaseq.Queue,
    form_values: Texts,
    before: Texts,
    *,
    errors: Texts | None = None,
    conflicts: Mapping[str, tuple[str, str | None]] | None = None,  # by name: their value, and this person's
    template_title: str = "",
) -> str:
    field_errors: dict[str, str] = dict(errors or {})
    payloads = payloads_of(queue)
    settings_by_name: dict[str, Any] = {setting.name: setting for setting in SETTINGS}
    return queue_page(
        "manage/settings.html",
        queue,
        groups=GROUPS,
        settings_by_name=settings_by_name,
        form_templates=form_templates(),
        template_title=template_title,
        form_values=form_values,
        before=before,
        errors=field_errors,
        conflicts=conflicts or {},
        suggestion=suggestion_of(queue, queue.policy.lease_seconds),
        access=state().access.get(queue.name),
        has_items=bool(payloads),
        some_need_more_answers=some_need_more_answers(queue),
        payload_fields=field_names(payloads),
        shown_kinds=SHOWN_KINDS,
        question_kinds=QUESTION_KINDS,
        **preview_of(form_values, payloads),
    )
