"""Form templates: each with its purpose, instructions and an example item."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from flask_babel import gettext as _

from leaseq import Json


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """A form to start from. Its texts are in the language of the request; once filled in, the manager owns
    them."""

    name: str
    title: str
    about: str
    instructions: str
    form: dict[str, Any]
    sample: Json


def form_templates() -> tuple[FormTemplate, ...]:
    return tuple(make() for make in _MAKERS)


def form_template(name: str) -> FormTemplate | None:
    return next((one for one in form_templates() if one.name == name), None)


def _ask(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": properties,
    }


def _yes_no() -> FormTemplate:
    return FormTemplate(
        "yes-no",
        _("Yes or no"),
        _("One question, one key."),
        _("Say yes if the message may stay as it is."),
        {"show": ["text"], "ask": _ask("ok", ok={"title": _("Is this message fine?"), "type": "boolean"})},
        {"text": _("Does anybody know a good bakery near the station?")},
    )


def _choose_one() -> FormTemplate:
    kinds = [_("Delivery"), _("Refund"), _("Account"), _("Other")]
    return FormTemplate(
        "choose-one",
        _("Choose one"),
        _("Sort into one of several categories, with a note."),
        _("If a message is about two things, choose what the customer needs first."),
        {
            "show": ["text"],
            "ask": _ask(
                "about",
                about={"title": _("What is it about?"), "type": "string", "enum": kinds},
                note={"title": _("Note"), "type": "string", "maxLength": 500},
            ),
        },
        {"text": _("My parcel says delivered, but nothing is here.")},
    )


def _tag() -> FormTemplate:
    tags = [_("Praise"), _("Complaint"), _("Question"), _("Idea"), _("Urgent")]
    return FormTemplate(
        "tag",
        _("Tag"),
        _("Choose any number of tags."),
        _("Tick all that apply. Tick none if none applies."),
        {
            "show": ["text"],
            "ask": _ask(
                tags={"title": _("What fits?"), "type": "array", "uniqueItems": True, "items": {"enum": tags}}
            ),
        },
        {"text": _("I love the new page, but how do I change my address? I need it by Friday.")},
    )


def _transcribe() -> FormTemplate:
    return FormTemplate(
        "transcribe",
        _("Transcribe"),
        _("Type the text of a picture or a recording."),
        _("Type every word exactly as written. Type [?] for words that you can't read."),
        {
            "show": [
                {"field": "image", "kind": "image", "label": _("The page")},
                {"field": "audio", "kind": "audio"},
            ],
            "ask": _ask("text", text={"title": _("What does it say?"), "type": "string", "minLength": 1}),
        },
        {"image": picture()},
    )


def _compare() -> FormTemplate:
    return FormTemplate(
        "compare",
        _("Compare two"),
        _("Two things side by side: which is better?"),
        _("Choose the one that you would rather send to a customer."),
        {
            "show": [
                {"field": "question", "kind": "text", "label": _("Asked")},
                {"field": "a", "kind": "text", "label": "A"},
                {"field": "b", "kind": "text", "label": "B", "beside": True},
            ],
            "ask": _ask(
                "better",
                better={
                    "title": _("Which is better?"),
                    "oneOf": [
                        {"const": "a", "title": "A"},
                        {"const": "b", "title": "B"},
                        {"const": "same", "title": _("No difference")},
                    ],
                },
                why={"title": _("Why?"), "type": "string", "maxLength": 500},
            ),
        },
        {
            "question": _("When does the shop open on Sundays?"),
            "a": _("We are closed on Sundays. On Mondays we open at 9."),
            "b": _("Monday to Saturday."),
        },
    )


def _check_record() -> FormTemplate:
    def verdict_question(title: str) -> dict[str, Any]:
        verdicts = [{"const": True, "title": _("Right")}, {"const": False, "title": _("Wrong")}]
        return {
            "title": title,
            **_ask(
                "right",
                right={"title": _("Is it right?"), "oneOf": verdicts},
                correction={"title": _("What is the correct value?"), "type": "string", "maxLength": 120},
            ),
        }

    return FormTemplate(
        "check-record",
        _("Check a record"),
        _("Mark each field as right or wrong, and correct it."),
        _("Compare each field with the source. If it is wrong, type the correct value."),
        {
            "show": [
                {"field": "record", "kind": "table", "label": _("As typed")},
                {"field": "source", "kind": "text", "label": _("The source"), "beside": True},
            ],
            "ask": _ask(
                "name",
                "street",
                "city",
                name=verdict_question(_("Name")),
                street=verdict_question(_("Street")),
                city=verdict_question(_("City")),
            ),
        },
        {
            "record": {"name": "Ada Lovelace", "street": "12 St James Sq", "city": "Londn"},
            "source": "Ada Lovelace\n12 St James's Square\nLondon",
        },
    )


def picture() -> str:
    """A handwritten note, as a data: URL."""
    data = files("leaseq.webapp.forms").joinpath("note.jpg").read_bytes()
    return "data:image/jpeg;base64," + base64.b64encode(data).decode()


_MAKERS: tuple[Callable[[], FormTemplate], ...] = (
    _yes_no,
    _choose_one,
    _tag,
    _transcribe,
    _compare,
    _check_record,
)
