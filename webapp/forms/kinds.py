"""The names of the kinds of shown fields and of questions that the form builder offers."""

from __future__ import annotations

from flask_babel import lazy_gettext as _

SHOWN_KINDS = {
    "text": _("Text"),
    "markdown": _("Markdown"),
    "image": _("Picture"),
    "audio": _("Sound"),
    "video": _("Video"),
    "link": _("Link"),
    "table": _("Table"),
    "json": _("JSON"),
}
"""Labels by the kind in ``show``: the kinds of `leaseq.form.KINDS`."""

QUESTION_KINDS = {
    "choice": _("One of several options"),
    "choices": _("Any of several options"),
    "ranking": _("Options in an order"),
    "boolean": _("Yes or no"),
    "text": _("Short text"),
    "long-text": _("Long text"),
    "lines": _("Several lines, each a text"),
    "integer": _("Whole number"),
    "number": _("Number"),
    "date": _("Date"),
    "time": _("Time"),
    "date-time": _("Date and time"),
    "other": _("Other, by JSON"),
}
"""Labels by the kinds in static/manage/form-model.js."""
