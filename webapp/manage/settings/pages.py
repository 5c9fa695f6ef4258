"""The settings of a queue: a page for each section, with a form of its fields."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from flask import flash, redirect, request, url_for
from flask_babel import gettext
from flask_babel import gettext as _
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, Json, Policy, validation
from leaseq.policy import FIELDS
from leaseq.policy import GROUPS as TITLES
from leaseq.policy_fields import (
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
from leaseq.webapp.context import existing_queue
from leaseq.webapp.forms.fields import QUESTION_KINDS, SHOWN_KINDS
from leaseq.webapp.forms.linter import Finding, check_text
from leaseq.webapp.forms.templates import (
    field_names,
    form_templates,
)
from leaseq.webapp.i18n import (
    UNITS,
    join_span,
    number_and_unit,
    read_number,
    read_span,
    span_text,
    split_span,
)
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.dashboard import suggestion_of
from leaseq.webapp.manage.item_forms import payloads_of, preview_of, sample_of
from leaseq.webapp.manage.items import warn_of_lookalike
from leaseq.webapp.realtime.attention import some_need_more_answers
from leaseq.webapp.refusals import reason_of
from leaseq.webapp.rendering.filters import pretty
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import queues
from leaseq.webapp.serving.bodies import lines_of

_DEFAULTS = Policy()
Texts: TypeAlias = Mapping[str, str]


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
        """What the setting does, and its default."""
        default = self._default()
        sentences = [
            gettext(self.field.help),
            gettext("Default: %(value)s.", value=default) if default else "",
        ]
        return " ".join(filter(None, map(str, sentences)))

    def _default(self) -> str:
        value = getattr(_DEFAULTS, self.name)
        if value is None:
            return str(gettext(self.field.none))
        match self.field.kind:
            case Boolean():
                return str(gettext("on") if value else gettext("off"))
            case OneOf(choices):
                return str(gettext(choices[value]))
            case Seconds():
                return span_text(value)
        return self.write(_DEFAULTS)

    @property
    def empty(self) -> str:
        """What an empty input means, if it may be empty."""
        return str(gettext(self.field.none)) if self.field.none else ""

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
            case Alerts():
                return "alerts"
            case Line():
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
        return unit_names() if isinstance(self.field.kind, Seconds) else {}

    @property
    def unit(self) -> str:
        """The unit shown next to a number's input."""
        return str(gettext(self.field.kind.unit)) if isinstance(self.field.kind, Integer) else ""

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into number and unit for the page. Other texts stay whole."""
        return split_span(text) if self.units else (text, "s")

    def alerts(self, text: str) -> list[AlertInput]:
        """The inputs of the alert rules in a text, one for each measure."""
        measures = self.field.kind.measures if isinstance(self.field.kind, Alerts) else {}
        limits = dict(_alert_rules(text))
        return [
            AlertInput(name, str(gettext(measure.label)), measure.is_time, limits.get(name, ""))
            for name, measure in measures.items()
        ]

    def text_in(self, form: Texts) -> str | None:
        """The setting's text in a form; None if the form does not have it. An unticked box sends nothing."""
        match self.field.kind:
            case Boolean():
                return form.get(self.name, "")
            case Seconds() if self.name in form:
                return join_span(form[self.name], form.get(f"{self.name}.unit", ""))
            case Alerts(measures) if any(f"{self.name}.{name}" in form for name in measures):
                limits = {
                    name: join_span(
                        form.get(f"{self.name}.{name}", ""), form.get(f"{self.name}.{name}.unit", "")
                    )
                    for name in measures
                }
                return "\n".join(f"{name}>{limit.strip()}" for name, limit in limits.items() if limit.strip())
        return form.get(self.name)

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
            case Bands():
                return " ".join(map(str, value))
            case Alerts(measures):
                return "\n".join(
                    f"{name}>{' '.join(number_and_unit(int(limit))) if measures[name].is_time else limit}"
                    for name, limit in (rule.split(">") for rule in value)
                )
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
                return read_span(text, self.name)
            case Bands():
                return tuple(
                    read_number(part, self.name, whole=True) for part in text.replace(",", " ").split()
                )
            case Form():
                return validation.load_json(text, self.name)
            case Alerts(measures):
                return [
                    f"{name}>{_limit(self.name, limit, measures[name].is_time)}"
                    for name, limit in _alert_rules(text)
                ]
        return text


@dataclass(frozen=True, slots=True)
class AlertInput:
    """The input of one alert rule: the limit of a measure; empty without a rule."""

    name: str
    label: str
    is_time: bool
    text: str

    @property
    def number_and_unit(self) -> tuple[str, str]:
        return split_span(self.text) if self.is_time else (self.text, "")


@dataclass(frozen=True, slots=True)
class Group:
    """The settings of one section."""

    id: str
    settings: tuple[Setting, ...]

    @property
    def title(self) -> str:
        return str(gettext(TITLES[self.id]))

    def url(self, queue: str) -> str:
        if self.id == "work":
            return url_for("manage.settings", q=queue)
        return url_for("manage.settings_section", q=queue, section=self.id)

    def texts_of(self, policy: Policy) -> dict[str, str]:
        """The text of each field of a policy."""
        return {setting.name: setting.write(policy) for setting in self.settings}

    def texts_in(self, form: Texts) -> dict[str, str]:
        """The texts in a form."""
        found = {setting.name: setting.text_in(form) for setting in self.settings}
        return {name: text for name, text in found.items() if text is not None}

    def read(self, inputs: Texts) -> tuple[dict[str, Json], dict[str, str]]:
        """The values, and the errors by field."""
        values: dict[str, Json] = {}
        errors: dict[str, str] = {}
        for setting in self.settings:
            if setting.name not in inputs:
                continue
            try:
                values[setting.name] = setting.read(inputs[setting.name])
            except Invalid as error:
                errors[setting.name] = reason_of(error)
        return values, errors


GROUPS = {
    id: Group(id, tuple(Setting(field) for field in FIELDS.values() if field.group == id)) for id in TITLES
}


def unit_names() -> dict[str, str]:
    return {unit: str(gettext(unit)) for unit in UNITS}


def _alert_rules(text: str) -> list[tuple[str, str]]:
    """The measure and the limit of each rule in a text."""
    return [(name, limit) for name, _sign, limit in (line.partition(">") for line in text.splitlines())]


def _limit(name: str, text: str, is_time: bool) -> Json:
    return read_span(text, name) if is_time else read_number(text, name, whole=True)


@bp.get("/manage/<q>/settings")
@needs("manager")
def settings(q: str) -> str:
    """The first section."""
    queue, group = existing_queue(q), GROUPS["work"]
    texts, payloads = group.texts_of(queue.policy), payloads_of(queue)
    sample = {"sample": pretty(sample_of(queue.policy.form, payloads)), "at": "0" if payloads else ""}
    return section_page(queue, group, {**texts, **sample}, texts)


@bp.get("/manage/<q>/settings/<section>")
@needs("manager")
def settings_section(q: str, section: str) -> str:
    """Another section."""
    queue, group = existing_queue(q), _other_group(section)
    texts = group.texts_of(queue.policy)
    return section_page(queue, group, texts, texts)


def _other_group(section: str) -> Group:
    if section not in GROUPS or section == "work":
        raise NotFound
    return GROUPS[section]


@bp.post("/manage/<q>/settings")
@needs("manager")
def save_settings(q: str) -> Response | tuple[str, int]:
    return _save(q, GROUPS["work"])


@bp.post("/manage/<q>/settings/<section>")
@needs("manager")
def save_settings_section(q: str, section: str) -> Response | tuple[str, int]:
    return _save(q, _other_group(section))


def _save(q: str, group: Group) -> Response | tuple[str, int]:
    """Save the section's fields that this person changed; save nothing if somebody else has changed one of
    them since.

    Other fields that were changed in the meantime keep their new value, and the page says so. If the policy
    has changed since the comparison, the save fails and the comparison is repeated.
    """
    queue = existing_queue(q)
    while True:
        with contextlib.suppress(leaseq.PolicyChanged):
            return _save_once(queue, queue.policy, group)


def _save_once(queue: leaseq.Queue, policy: leaseq.Policy, group: Group) -> Response | tuple[str, int]:
    inputs, texts = (
        input_texts(group),
        {name: lines_of(text) for name, text in group.texts_of(policy).items()},
    )
    before = {**texts, **texts_before()}
    changes = {name: text for name, text in inputs.items() if text != before.get(name) and name in texts}
    others = [name for name in texts if texts[name] != before[name] and texts[name] != changes.get(name)]
    if any(name in changes for name in others):
        conflicts = {name: (texts[name], changes.get(name)) for name in others}
        return section_page(queue, group, {**inputs, **texts, **changes}, texts, conflicts=conflicts), 409
    values, errors = group.read(changes)
    if "form" in changes and not (checked_form := check_text(changes["form"])).is_valid:
        errors["form"] = _finding_text(checked_form.findings[0])
    if not errors and values:
        try:
            queues.configure(queue, policy, expected=policy, **values)
        except Invalid as error:
            errors[error.field] = reason_of(error)
    if errors:
        return section_page(queue, group, {**texts, **inputs}, before, errors=errors), 400
    flash(_("Saved.") if values else _("No setting was different."))
    if "title" in values:
        warn_of_lookalike(queue, queue.policy.title)
    if others:
        names = ", ".join(setting.label for setting in group.settings if setting.name in others)
        flash(
            _(
                "Somebody else changed these settings in the meantime, and their values are kept: %(names)s.",
                names=names,
            )
        )
    if values.get("answers", policy.answers) < policy.answers and some_need_more_answers(queue):
        return redirect(url_for("manage.confirm_lower", q=queue.name), 303)
    return redirect(group.url(queue.name), 303)


def input_texts(group: Group) -> dict[str, str]:
    """The page's input."""
    form = {name: lines_of(text) for name, text in request.form.items()}
    texts = group.texts_in(form)
    if form.get("suggested"):  # its button also saves all other input
        texts["lease_seconds"] = form["suggested"]
    return {**texts, **{name: form.get(name, "") for name in ("sample", "at")}}


def texts_before() -> dict[str, str]:
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


def section_page(
    queue: leaseq.Queue,
    group: Group,
    form_values: Texts,
    before: Texts,
    *,
    errors: Texts | None = None,
    conflicts: Mapping[str, tuple[str, str | None]] | None = None,  # by name: their value, and this person's
    template_title: str = "",
    asked_template: tuple[str, str] | None = None,  # its name and title: the page asks whether to use it
) -> str:
    """The page of a section. ``form_values``: the texts of its inputs; ``before``: those of the policy when
    the person began."""
    values: dict[str, Any] = {
        "group": group,
        "groups": GROUPS,
        "labels": {setting.name: setting.label for setting in group.settings},
        "form_values": form_values,
        "before": before,
        "errors": errors or {},
        "conflicts": conflicts or {},
        "template_title": template_title,
        "asked_template": asked_template,
        "is_unsaved": any(form_values.get(name) != text for name, text in before.items()),
    }
    match group.id:
        case "work":
            payloads = payloads_of(queue)
            values |= {
                "form_templates": form_templates(),
                "has_items": bool(payloads),
                "payload_fields": field_names(payloads),
                "shown_kinds": SHOWN_KINDS,
                "question_kinds": QUESTION_KINDS,
                **preview_of(form_values, payloads),
            }
        case "time":
            values["suggestion"] = suggestion_of(queue, queue.policy.lease_seconds)
        case "answers":
            values["some_need_more_answers"] = some_need_more_answers(queue)
        case "advanced":
            values["unit_names"] = unit_names()
    return queue_page("manage/settings.html", queue, **values)
