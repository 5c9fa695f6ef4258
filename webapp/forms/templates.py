"""New forms: from a template, or guessed from payloads."""

from __future__ import annotations

import base64
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from flask_babel import gettext as _

from leaseq import Json
from leaseq.form import prefilled
from leaseq.webapp.item_title import is_chat


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
    return (
        FormTemplate(
            "yes-no",
            _("Yes or no"),
            _("One question, one key."),
            _("Say yes if the message may stay as it is."),
            {
                "show": ["text"],
                "ask": _ask("ok", ok={"title": _("Is this message fine?"), "type": "boolean"}),
            },
            {"text": _("Does anybody know a good bakery near the station?")},
        ),
        FormTemplate(
            "choose-one",
            _("Choose one"),
            _("Sort into one of several categories, with a note."),
            _("If a message is about two things, choose what the customer needs first."),
            {
                "show": ["text"],
                "ask": _ask(
                    "about",
                    about=_text(
                        _("What is it about?"), enum=[_("Delivery"), _("Refund"), _("Account"), _("Other")]
                    ),
                    note=_text(_("Note"), maxLength=500),
                ),
            },
            {"text": _("My parcel says delivered, but nothing is here.")},
        ),
        FormTemplate(
            "tag",
            _("Tag"),
            _("Choose any number of tags."),
            _("Tick all that apply. Tick none if none applies."),
            {
                "show": ["text"],
                "ask": _ask(
                    tags={
                        "title": _("What fits?"),
                        "type": "array",
                        "uniqueItems": True,
                        "items": {
                            "enum": [_("Praise"), _("Complaint"), _("Question"), _("Idea"), _("Urgent")]
                        },
                    }
                ),
            },
            {"text": _("I love the new page, but how do I change my address? I need it by Friday.")},
        ),
        FormTemplate(
            "transcribe",
            _("Transcribe"),
            _("Type the text of a picture or a recording."),
            _("Type every word exactly as written. Type [?] for words that you can't read."),
            {
                "show": [
                    {"field": "image", "kind": "image", "label": _("The page")},
                    {"field": "audio", "kind": "audio"},
                ],
                "ask": _ask("text", text=_text(_("What does it say?"), minLength=1)),
            },
            {"image": picture()},
        ),
        FormTemplate(
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
                    better=_one_of(_("Which is better?"), {"a": "A", "b": "B", "same": _("No difference")}),
                    why=_text(_("Why?"), maxLength=500),
                ),
            },
            {
                "question": _("When does the shop open on Sundays?"),
                "a": _("We are closed on Sundays. On Mondays we open at 9."),
                "b": _("Monday to Saturday."),
            },
        ),
        FormTemplate(
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
                    name=_verdict(_("Name")),
                    street=_verdict(_("Street")),
                    city=_verdict(_("City")),
                ),
            },
            {
                "record": {"name": "Ada Lovelace", "street": "12 St James Sq", "city": "Londn"},
                "source": "Ada Lovelace\n12 St James's Square\nLondon",
            },
        ),
        FormTemplate(
            "read-order",
            _("Read an order"),
            _("A table with rows, marked words, a choice in a tree, and a rating."),
            _("Type a row for each article. Mark the words that say who orders, and where to send it."),
            {
                "show": ["text"],
                "ask": _ask("articles", articles=_articles(), who=_marks(), topic=_topic(), clear=_rating()),
            },
            {"text": _("Please send 3 filters and a mug to Ada Lovelace, 12 St James's Square, London.")},
        ),
    )


def _articles() -> dict[str, Any]:
    pieces = {"title": _("Pieces"), "type": "integer", "minimum": 1}
    row = _ask("article", article=_text(_("Article")), pieces=pieces)
    return {"title": _("What is ordered?"), "type": "array", "minItems": 1, "maxItems": 50, "items": row}


def _marks() -> dict[str, Any]:
    place = {"type": "integer", "minimum": 0}
    label = {"title": _("Label"), "enum": [_("Name"), _("Address")]}
    mark = _ask("start", "end", "label", start=place, end=place, label=label, text={"type": "string"})
    return {
        "title": _("Who orders?"),
        "type": "array",
        "x-widget": "passages",
        "x-text": "text",
        "items": mark,
    }


def _topic() -> dict[str, Any]:
    paths = [_("Kitchen / Coffee"), _("Kitchen / Dishes"), _("Garden / Tools"), _("Garden / Plants")]
    return _text(_("What is it about?"), enum=paths, **{"x-widget": "tree"})


def _rating() -> dict[str, Any]:
    scale = {"type": "integer", "minimum": 1, "maximum": 5}
    return {"title": _("How clear is it?"), **scale, "x-widget": "rating"}


def form_template(name: str) -> FormTemplate | None:
    return next((template for template in form_templates() if template.name == name), None)


def _ask(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": properties,
    }


def _text(title: str, **limits: Any) -> dict[str, Any]:
    return {"title": title, "type": "string", **limits}


def _one_of(title: str, choices: Mapping[Any, str]) -> dict[str, Any]:
    return {"title": title, "oneOf": [{"const": value, "title": name} for value, name in choices.items()]}


def _verdict(title: str) -> dict[str, Any]:
    """The questions about one field of a record."""
    right = _one_of(_("Is it right?"), {True: _("Right"), False: _("Wrong")})
    correction = _text(_("What is the correct value?"), maxLength=120)
    return {"title": title, **_ask("right", right=right, correction=correction)}


def picture() -> str:
    """A handwritten note, as a data: URL."""
    data = files("leaseq.webapp.forms").joinpath("note.jpg").read_bytes()
    return "data:image/jpeg;base64," + base64.b64encode(data).decode()


MAX_FIELDS = 40
MAX_CHOICES = 12
MAX_NAMES = 200
MIN_VALUES = 10
MIN_PER_CHOICE = 3  # values on average: mostly distinct values are no choice
_LONGEST_CHOICE = 60
_GUESS_WORD = re.compile(r"(?:guess(?:ed)?|predict(?:ed|ion)|suggest(?:ed|ion)|proposed)\b ?", re.IGNORECASE)
_FILES = {
    "image": re.compile(r"\.(png|jpe?g|gif|webp|avif|svg)([?#]|$)", re.IGNORECASE),
    "audio": re.compile(r"\.(mp3|wav|ogg|m4a|flac|opus)([?#]|$)", re.IGNORECASE),
    "video": re.compile(r"\.(mp4|webm|mov|m4v)([?#]|$)", re.IGNORECASE),
    "pdf": re.compile(r"\.pdf([?#]|$)", re.IGNORECASE),
}
_URL = re.compile(r"https?://\S+$")


def guess_form(payloads: Sequence[Json]) -> dict[str, Any] | None:
    """A form that shows the fields of these payloads and has a question for each guess in them; None if they
    have no fields."""
    values_by_field: dict[str, list[Json]] = {}
    for payload in payloads:
        if isinstance(payload, Mapping):
            for name, value in payload.items():
                if value not in (None, ""):
                    values_by_field.setdefault(name, []).append(value)
    questions = _questions(values_by_field)
    entries = [
        _entry(name, values)
        for name, values in values_by_field.items()
        if not _is_asked(name, values, questions)
    ]
    if not entries and not questions:
        return None
    form: dict[str, Any] = {"show": entries[:MAX_FIELDS]} if entries else {}
    if questions:
        keys = _keys(list(questions))
        form["ask"] = {"type": "object", "properties": {keys[path]: questions[path] for path in questions}}
        form["prefill"] = {keys[path]: path for path in questions}
    return form


def _is_asked(name: str, values: Iterable[Json], questions: Container[str]) -> bool:
    """Whether the questions cover the whole field."""
    return name in questions or all(
        isinstance(value, Mapping) and all(f"{name}.{member}" in questions for member in value)
        for value in values
    )


def _questions(values_by_field: Mapping[str, Sequence[Json]]) -> dict[str, dict[str, Any]]:
    """The questions for guesses, by the path of the guess in the payload."""
    guesses: dict[str, list[Json]] = {}
    for name, values in values_by_field.items():
        for value in values:
            members = value.items() if isinstance(value, Mapping) else [("", value)]
            for member, inner in members:
                if inner not in (None, ""):
                    guesses.setdefault(f"{name}.{member}" if member else name, []).append(inner)
    questions = {path: _question(path, values) for path, values in guesses.items()}
    return {path: schema for path, schema in questions.items() if schema is not None}


def _question(path: str, values: Sequence[Json]) -> dict[str, Any] | None:
    """A choice among the values of a guess, or yes or no; None if neither is plausible."""
    steps = [_words(step) for step in path.split(".")]
    if not any(map(_GUESS_WORD.match, steps)) and steps[-1].lower() != "label":
        return None
    title = _capital(_GUESS_WORD.sub("", steps[-1], count=1) or steps[-1])
    if all(isinstance(value, bool) for value in values):
        return {"title": title, "type": "boolean"}
    if not all(isinstance(value, str) and len(value) <= _LONGEST_CHOICE for value in values):
        return None
    choices = sorted({str(value) for value in values})
    minimum = max(MIN_VALUES, MIN_PER_CHOICE * len(choices))
    if not 2 <= len(choices) <= MAX_CHOICES or len(values) < minimum:
        return None
    return {"title": title, "type": "string", "enum": choices}


def _keys(paths: Sequence[str]) -> dict[str, str]:
    """The key of each question: the last step of its path, or the whole path if that is not unique."""
    names = [path.rpartition(".")[2] for path in paths]
    return {
        path: key if names.count(key) == 1 else path.replace(".", "_")
        for path, key in zip(paths, names, strict=True)
    }


def _entry(name: str, values: Sequence[Json]) -> dict[str, Any]:
    entry = {"field": name, "kind": _kind(values)}
    label = _capital(_words(name))
    return entry if label in ("", name) else {**entry, "label": label}


def _words(name: str) -> str:
    """A field's name as words: ``sentAt`` and ``sent_at`` are "sent At" and "sent at"."""
    return " ".join(re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").replace("-", " ").split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _kind(values: Sequence[Json]) -> str:
    """The kind that fits all values."""
    if all(map(is_chat, values)):
        return "chat"
    if all(map(_are_pictures, values)):
        return "images"
    if any(isinstance(value, list | dict) for value in values):
        return "table" if all(map(_is_flat, values)) else "json"
    if not all(isinstance(value, str) for value in values):
        return "text"
    texts = [str(value) for value in values]
    if all(text.startswith("data:image/") for text in texts):
        return "image"
    if not all(map(_URL.match, texts)):
        return "text"
    kinds = (kind for kind, ending in _FILES.items() if all(map(ending.search, texts)))
    return next(kinds, "link")


def _are_pictures(value: Json) -> bool:
    """Whether this is a list of addresses of pictures."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(address, str) and _URL.match(address) and _FILES["image"].search(address)
            for address in value
        )
    )


def _is_flat(value: Json) -> bool:
    """Whether this is an object, or a list of objects, with only plain values."""
    if isinstance(value, Mapping):
        return _are_plain(value.values())
    return isinstance(value, list) and all(
        isinstance(row, Mapping) and _are_plain(row.values()) for row in value
    )


def _are_plain(values: Iterable[Any]) -> bool:
    return not any(isinstance(value, list | dict) for value in values)


def field_names(payloads: Sequence[Json]) -> list[str]:
    """The names of the payloads' fields, and the dotted names of the members of fields that are objects."""
    names: dict[str, None] = {}
    for payload in payloads:
        for name, value in payload.items() if isinstance(payload, Mapping) else ():
            members = value if isinstance(value, Mapping) else {}
            names |= dict.fromkeys([name, *(f"{name}.{member}" for member in members)])
    return list(names)[:MAX_NAMES]


def missing_fields(form: Json, payloads: Sequence[Json]) -> list[str]:
    """The fields that the form shows or prefills from, but that none of these payloads has."""
    if not isinstance(form, Mapping) or not payloads:
        return []
    entries = [entry if isinstance(entry, Mapping) else {"field": entry} for entry in form.get("show") or []]
    names = [entry[member] for entry in entries for member in ("field", "with") if member in entry]
    filled_names = {name for payload in payloads for name in prefilled(form, payload)}
    missing_paths = [path for name, path in form.get("prefill", {}).items() if name not in filled_names]
    return [
        *(
            name
            for name in names
            if not any(isinstance(payload, Mapping) and name in payload for payload in payloads)
        ),
        *missing_paths,
    ]
