"""The settings page of a queue: its policy as a form, and a preview of the work page."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import existing_queue, person, state, wants_fragment
from leaseq.webapp.forms.guess import field_names, guess_form
from leaseq.webapp.forms.kinds import QUESTION_KINDS, SHOWN_KINDS
from leaseq.webapp.forms.linter import Finding, check_text
from leaseq.webapp.forms.templates import form_template, form_templates
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.lease_time import suggestion_of
from leaseq.webapp.manage.policy_form import GROUPS, SETTINGS, read_all, texts_of
from leaseq.webapp.manage.preview import payloads_of, preview_of, sample_of
from leaseq.webapp.manage.titles import warn_of_lookalike
from leaseq.webapp.paths import current_path
from leaseq.webapp.realtime.attention import some_need_more_answers
from leaseq.webapp.rendering.filters import pretty
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole_number
from leaseq.webapp.typed import lines_of

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
    typed, texts = _typed_texts(), {name: lines_of(text) for name, text in texts_of(policy).items()}
    before = {**texts, **_texts_before()}
    changes = {name: text for name, text in typed.items() if text != before.get(name) and name in texts}
    others = [name for name in texts if texts[name] != before[name] and texts[name] != changes.get(name)]
    if any(name in changes for name in others):
        conflicts = {name: (texts[name], changes.get(name)) for name in others}
        return _page(
            queue,
            {**texts, **changes, "sample": typed["sample"], "at": typed["at"]},
            texts,
            conflicts=conflicts,
        ), 409
    values, errors = read_all(changes)
    checked_form = check_text(changes.get("form", ""))
    if not checked_form.is_valid:
        errors["form"] = _finding_text(checked_form.findings[0])
    if not errors and values:
        try:
            queue.configure(by=person().name, expected=policy, **values)
        except Invalid as error:
            errors[error.field] = error.limit
    if errors:
        return _page(queue, {**texts, **typed}, before, errors=errors), 400
    flash(_("Saved.") if values else _("No setting was different."))
    if "title" in values:
        warn_of_lookalike(queue, queue.policy.title)
    if others:
        names = ", ".join(one.label for one in SETTINGS if one.name in others)
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
    queue, typed = existing_queue(q), _typed_texts()
    payloads = payloads_of(queue)
    item = whole_number(request.form.get("item"))
    if item is not None and item < len(payloads):  # another item of the queue was chosen
        typed = {**typed, "sample": pretty(payloads[item]), "at": str(item)}
    if wants_fragment():
        return render_template(
            "manage/form_preview.html",
            form_values=typed,
            preview_url=current_path(),
            **preview_of(typed, payloads),
        )
    texts = texts_of(queue.policy)
    return _page(queue, {**texts, **typed}, {**texts, **_texts_before()})


@bp.post("/manage/<q>/settings/start")
@needs("manager")
def apply_template(q: str) -> str:
    """Fill in a template or a guessed form. Nothing is saved, and all other input stays."""
    queue, typed = existing_queue(q), _typed_texts()
    texts = texts_of(queue.policy)
    if request.form.get("from") == "items":
        return _page(
            queue,
            {**texts, **typed, **_guess_texts(queue)},
            {**texts, **_texts_before()},
            template_title=_("From the items"),
        )
    template = form_template(request.form.get("from", ""))
    if template is None:
        raise Invalid("from", "one of " + ", ".join(["items", *(one.name for one in form_templates())]))
    template_texts = {"form": pretty(template.form), "sample": pretty(template.sample), "at": ""}
    if not typed.get("instructions", "").strip():
        template_texts["instructions"] = template.instructions
    return _page(
        queue,
        {**texts, **typed, **template_texts},
        {**texts, **_texts_before()},
        template_title=template.title,
    )


def _guess_texts(queue: leaseq.Queue) -> dict[str, str]:
    """The form guessed from the payloads, with the existing form's questions."""
    payloads = payloads_of(queue)
    new_form = guess_form(payloads)
    if new_form is None:
        raise Invalid(
            "from", "items whose payloads have fields", _("There are no items, or they have no fields.")
        )
    old_form = queue.policy.form
    old_parts = (
        {name: part for name, part in old_form.items() if name != "show"}
        if isinstance(old_form, dict)
        else {}
    )
    if "ask" in old_parts:
        new_form = {"show": new_form["show"]} if "show" in new_form else {}
    return {"form": pretty({**new_form, **old_parts}), "sample": pretty(payloads[0]), "at": "0"}


def _typed_texts() -> dict[str, str]:
    """The page's input. An unticked box sends nothing, so that its absence counts as empty."""
    form = {name: lines_of(text) for name, text in request.form.items()}
    texts = {
        one.name: one.join(form.get(one.name, ""), form.get(f"{one.name}.unit", ""))
        for one in SETTINGS
        if one.name in form or one.control == "tick"
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
    return render_template(
        "manage/settings.html",
        queue=queue,
        policy=queue.policy,
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
