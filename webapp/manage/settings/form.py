"""The form on a queue's settings: its preview while it is edited, and templates to start from."""

from __future__ import annotations

from flask import render_template, request
from flask_babel import gettext as _

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import existing_queue, wants_fragment
from leaseq.webapp.forms.linter import check_text
from leaseq.webapp.forms.templates import FormTemplate, form_template, form_templates, guess_form
from leaseq.webapp.manage.blueprint import bp
from leaseq.webapp.manage.item_forms import payloads_of, preview_of
from leaseq.webapp.manage.settings.pages import GROUPS, Texts, input_texts, section_page, texts_before
from leaseq.webapp.paths import current_path
from leaseq.webapp.rendering.filters import pretty
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.bodies import whole_number


@bp.post("/manage/<q>/settings/preview")
@needs("manager")
def preview_settings(q: str) -> str:
    """Preview the form as typed, with the example item or another item of the queue. Nothing is saved."""
    queue, group = existing_queue(q), GROUPS["work"]
    inputs, payloads = input_texts(group), payloads_of(queue)
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
    texts = group.texts_of(queue.policy)
    return section_page(queue, group, {**texts, **inputs}, {**texts, **texts_before()})


@bp.post("/manage/<q>/settings/start")
@needs("manager")
def apply_template(q: str) -> str:
    """Fill in a template or a guessed form, once the person has said that it may replace the form that is
    there. Nothing is saved, and all other input stays."""
    queue, group = existing_queue(q), GROUPS["work"]
    inputs, texts = input_texts(group), group.texts_of(queue.policy)
    values, before = {**texts, **inputs}, {**texts, **texts_before()}
    name = request.form.get("replace") or request.form.get("from", "")
    template = form_template(name)
    if template is None and name != "items":
        choices = ["items", *(template.name for template in form_templates())]
        raise Invalid("from", "one_of", choices=choices, value=name)
    title = template.title if template else _("From the items")
    if values["form"].strip() and "replace" not in request.form:
        return section_page(queue, group, values, before, asked_template=(name, title))
    template_texts = _template_texts(template, values) if template else _guess_texts(queue, values["form"])
    return section_page(queue, group, {**values, **template_texts}, before, template_title=title)


def _template_texts(template: FormTemplate, values: Texts) -> dict[str, str]:
    """The template's form and example; its instructions only if there are none."""
    texts = {"form": pretty(template.form), "sample": pretty(template.sample), "at": ""}
    has_instructions = values["instructions"].strip()
    return texts if has_instructions else {**texts, "instructions": template.instructions}


def _guess_texts(queue: leaseq.Queue, typed_form: str) -> dict[str, str]:
    """The form guessed from the payloads, with the questions of the form that is there."""
    payloads = payloads_of(queue)
    new_form = guess_form(payloads)
    if new_form is None:
        raise Invalid("from", "page", what="no_fields")
    old_form = check_text(typed_form).form
    old_parts = (
        {name: part for name, part in old_form.items() if name != "show"}
        if isinstance(old_form, dict)
        else {}
    )
    if "ask" in old_parts:
        new_form = {"show": new_form["show"]} if "show" in new_form else {}
    return {"form": pretty({**new_form, **old_parts}), "sample": pretty(payloads[0]), "at": "0"}
