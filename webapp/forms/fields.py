"""The fields of a form: one for each property of the queue's ``ask``, and of objects inside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from flask_babel import get_locale
from flask_babel import lazy_gettext as _

from leaseq import Json
from leaseq.form import Conditions, conditions_of, is_for_files, is_for_passages
from leaseq.webapp.files.keys import FileLimits, file_limits
from leaseq.webapp.forms.choices import MANY, Choice, Shortcuts, is_scale, json_text, labels_and_texts
from leaseq.webapp.forms.schema import SCALE, Limits, Schema, limits_of, members, resolve

SHOWN_KINDS = {
    "text": _("Text"),
    "markdown": _("Markdown"),
    "html": _("HTML mail"),
    "chat": _("Conversation"),
    "image": _("Picture"),
    "images": _("Several pictures"),
    "audio": _("Sound"),
    "video": _("Video"),
    "pdf": _("PDF"),
    "link": _("Link"),
    "table": _("Table"),
    "diff": _("Difference of two texts"),
    "code": _("Code"),
    "money": _("Amount of money"),
    "date": _("Date or time"),
    "json": _("JSON"),
}
"""Labels by the kind in ``show``: the kinds of `leaseq.form.KINDS`."""

QUESTION_KINDS = {
    "choice": _("One choice"),
    "choices": _("Several choices"),
    "ranking": _("Ranking"),
    "boolean": _("Yes or no"),
    "rating": _("Rating"),
    "tree": _("Choice in a tree"),
    "text": _("Short text"),
    "long-text": _("Long text"),
    "lines": _("Several lines, each a text"),
    "rows": _("Table with rows"),
    "passages": _("Passages of a text"),
    "file": _("Files"),
    "integer": _("Whole number"),
    "number": _("Number"),
    "date": _("Date"),
    "time": _("Time"),
    "date-time": _("Date and time"),
    "other": _("Other, by JSON"),
}
"""Labels by the kinds in static/manage/builder/kinds.js."""

Kind = Literal[
    "choice",
    "choices",
    "ranking",
    "text",
    "long-text",
    "number",
    "integer",
    "lines",
    "rows",
    "passages",
    "file",
    "json",
]
Widget = Literal["", "rating", "tree", "cell"]
"""How a choice is shown, if not as buttons or by typing: as stars, in a tree, or as the cell of a table."""

PREFIX = "answer."
"""The prefix of every input's name, so that no property collides with the page's own fields."""

ONE_LINE = 120  # characters; longer texts get a text area
INPUT_TYPES = {
    "date": "date",
    "time": "time",
    "date-time": "datetime-local",
    "email": "email",
    "uri": "url",
}
DEEPEST = 3  # levels of nested objects; deeper ones are typed as JSON
MAX_COLUMNS = 20  # of a table; objects with more members are typed as JSON
MAX_ROWS = 1_000  # that people can add, without maxItems
_SHOWN_ROWS = 3  # at least, and always an empty one


EMPTY: Json = object()
"""The value of an empty field; not null, since a choice may have that value."""


@dataclass(frozen=True, slots=True)
class ShownCondition:
    """A condition for the page: the other field's texts that fulfil it, and their labels."""

    input_name: str
    label: str
    texts: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """An object inside the result, shown as a fieldset."""

    path: tuple[str, ...]
    id: str
    label: str
    help: str
    required: bool


@dataclass(frozen=True, slots=True)
class Field:
    path: tuple[str, ...]  # names of the enclosing objects, then of the property
    id: str  # of the HTML element
    kind: Kind
    label: str
    help: str
    required: bool  # within its object
    choices: tuple[Choice, ...] = ()
    input_type: str = "text"
    limits: Limits = Limits()  # noqa: RUF009  # frozen
    item: str = "string"  # for lines: the type of each
    nullable: bool = False
    default: Json = EMPTY
    widget: Widget = ""
    separator: str = "/"  # for a tree: between the names in the path of a choice
    columns: tuple[Field, ...] = ()  # for rows and passages: one for each member
    text_path: str = ""  # for passages: the place of the text in the payload
    files: FileLimits = FileLimits()  # noqa: RUF009  # frozen
    groups: tuple[Group, ...] = ()  # its enclosing objects, outermost first
    conditions: Conditions = field(default_factory=dict)  # empty: always asked
    shown_conditions: tuple[ShownCondition, ...] = ()  # the same, for the page

    @property
    def name(self) -> str:
        """The dotted name, as in the errors of a result."""
        return ".".join(self.path)

    @property
    def input_name(self) -> str:
        return PREFIX + self.name

    @property
    def has_suggestions(self) -> bool:
        """Whether its choice is typed, with suggestions."""
        return self.kind == "choice" and len(self.choices) > MANY and not self.widget

    @property
    def labels(self) -> tuple[Choice, ...]:
        """The labels of passages."""
        column = next((column for column in self.columns if column.path[-1] == "label"), None)
        return column.choices if column else ()

    @property
    def max_rows(self) -> int:
        return MAX_ROWS if self.limits.max_items is None else self.limits.max_items

    def shown_rows(self, texts: Sequence[str]) -> list[list[str]]:
        """The rows of a table with their cells' texts, then empty ones to fill in."""
        width = len(self.columns)
        rows = [list(texts[start : start + width]) for start in range(0, len(texts), width)]
        count = max(_SHOWN_ROWS, len(rows) + (not rows or any(rows[-1])))
        return rows + [[""] * width for _row in range(min(count, self.max_rows) - len(rows))]

    @property
    def is_scale(self) -> bool:
        """Whether its choices are numbers that one digit selects, or 1 and 0."""
        return self.kind == "choice" and is_scale([choice.value for choice in self.choices])

    @property
    def is_searched(self) -> bool:
        """Whether its boxes are too many to find one by looking."""
        return self.kind == "choices" and len(self.choices) > MANY


@dataclass(frozen=True, slots=True)
class Fieldset:
    """A group with its fields, as the page shows them."""

    group: Group
    members: tuple[Field | Fieldset, ...]


Layout: TypeAlias = tuple[Field | Fieldset, ...]


def fields_of(form: Json) -> tuple[Field, ...]:
    """The fields that a queue's form asks for; one text box if it has no ``ask``."""
    return _fields_of(json.dumps(form), str(get_locale()))


@lru_cache(maxsize=256)
def _fields_of(text: str, _language: str) -> tuple[Field, ...]:
    """Cached by the form's text, since each request needs them, and by language, for words such as Yes."""
    form = json.loads(text)
    ask = form.get("ask") if isinstance(form, dict) else None
    schema: dict[str, Any] = ask if isinstance(ask, dict) else _schema_without_ask()
    shortcuts = Shortcuts(form.get("keys") if isinstance(form, dict) else None)
    fields = tuple(_Reader(schema, shortcuts, conditions_of(form)).read(schema, ()))
    by_name = {field.name: field for field in fields}
    return tuple(replace(field, shown_conditions=_shown_conditions(field, by_name)) for field in fields)


def _schema_without_ask() -> dict[str, Any]:
    """One text box."""
    answer = {"type": "string", "title": str(_("Your answer"))}
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}


def _shown_conditions(field: Field, by_name: Mapping[str, Field]) -> tuple[ShownCondition, ...]:
    conditions = []
    for name, values in field.conditions.items():
        other = by_name.get(name)
        if other is not None:  # the page has no field for an object itself
            by_value = {json_text(choice.value): choice for choice in other.choices}
            choices = [by_value.get(json_text(value)) for value in values]
            value_texts = [value if isinstance(value, str) else json_text(value) for value in values]
            texts = tuple(
                choice.text if choice else text for choice, text in zip(choices, value_texts, strict=True)
            )
            answers = tuple(
                choice.label if choice else text for choice, text in zip(choices, value_texts, strict=True)
            )
            conditions.append(ShownCondition(other.input_name, other.label, texts, answers))
    return tuple(conditions)


def titles_of(form: Json) -> dict[str, str]:
    """The form's titles of an answer's properties and nested objects, by dotted name. Empty if the form has
    no ``ask``."""
    if not isinstance(form, dict) or not isinstance(form.get("ask"), dict):
        return {}
    fields = fields_of(form)
    groups = {".".join(group.path): group.label for field in fields for group in field.groups}
    columns = {column.name: column.label for field in fields for column in field.columns}
    columns |= {f"{field.name}.text": str(_("Words")) for field in fields if field.text_path}
    return {**columns, **groups, **{field.name: field.label for field in fields}}


def in_app(fields: Iterable[Field], max_file_bytes: int | None) -> tuple[Field, ...]:
    """The fields in an app that keeps files of at most so many bytes; None: it keeps none."""
    return tuple(
        replace(field, files=field.files.within(max_file_bytes)) if field.kind == "file" else field
        for field in fields
    )


def layout_of(fields: Iterable[Field], depth: int = 0) -> Layout:
    """The fields, nested in their fieldsets."""
    layout: list[Field | Fieldset] = []
    rest = list(fields)
    while rest:
        first = rest[0]
        if len(first.groups) == depth:
            layout.append(rest.pop(0))
            continue
        group = first.groups[depth]
        group_fields = [field for field in rest if field.groups[depth : depth + 1] == (group,)]
        rest = [field for field in rest if field not in group_fields]
        layout.append(Fieldset(group, layout_of(group_fields, depth + 1)))
    return tuple(layout)


class _Reader:
    """Reads the fields of a schema and numbers them, for their ids in the page."""

    def __init__(self, root: Schema, keys: Shortcuts, conditions: Mapping[str, Conditions]) -> None:
        self._root = root
        self._conditions = conditions  # by top-level property
        self._keys = keys
        self._count = 0

    def read(self, schema: Schema, groups: tuple[Group, ...]) -> Iterator[Field]:
        properties, required = schema.get("properties"), schema.get("required")
        names = required if isinstance(required, list) else []
        siblings = properties if isinstance(properties, dict) else {}
        for name, member in siblings.items():
            inner, nullable = resolve(member, self._root)
            path = (*(groups[-1].path if groups else ()), name)
            self._count += 1
            if _is_group(inner, siblings, name, len(groups)):
                group = Group(
                    path, f"group-{self._count}", title_of(inner, name), _help(inner), name in names
                )
                yield from self.read(inner, (*groups, group))
            else:
                field = self._field(path, inner, name in names, nullable, groups)
                if not groups and is_for_passages(inner) and {"start", "end"} <= _names(field.columns):
                    field = self._with_passages(field, inner["x-text"])
                elif not groups and is_for_files(inner):
                    field = replace(field, kind="file", columns=(), files=file_limits(inner))
                if field.columns and any(other.startswith(f"{name}.") for other in siblings):
                    field = replace(field, kind="json", columns=())
                yield field

    def _field(
        self, path: tuple[str, ...], schema: Schema, required: bool, nullable: bool, groups: tuple[Group, ...]
    ) -> Field:
        choices = members(schema)
        item: Schema = {}
        columns: tuple[Field, ...] = ()
        kind: Kind
        if choices:
            kind = "choice"
        elif schema.get("type") == "array":
            item, _ = resolve(schema.get("items"), self._root)
            choices, columns = members(item), self._columns(path, item)
            kind = _list_kind(choices, columns, item, schema)
        else:
            kind = _plain_kind(schema)
        widget = _widget(schema, choices) if kind == "choice" else ""
        separator = schema.get("x-separator")
        return Field(
            path=path,
            id=f"field-{self._count}",
            kind=kind,
            label=title_of(schema, path[-1]),
            help=_help(schema),
            required=required,
            choices=self._choices(
                ".".join(path),
                choices,
                is_typed=kind == "choice" and len(choices) > MANY and not widget,
                with_row=kind != "ranking" and widget != "tree",
            ),
            input_type=INPUT_TYPES.get(str(schema.get("format")), "text"),
            limits=limits_of(schema),
            item=str(item.get("type", "string")),
            nullable=nullable and not any(value is None for value, _ in choices),
            default=schema.get("default", EMPTY),
            widget=widget,
            separator=separator if isinstance(separator, str) and separator else "/",
            columns=columns,
            groups=groups,
            conditions=self._conditions.get(path[0], {}),
        )

    def _with_passages(self, field: Field, text_path: str) -> Field:
        """The field for passages: their labels have keys, and their words come from the text."""
        columns = [
            replace(column, choices=self._with_keys(field.name, column.choices))
            if column.path[-1] == "label"
            else column
            for column in field.columns
            if column.path[-1] != "text"
        ]
        return replace(field, kind="passages", columns=tuple(columns), text_path=text_path)

    def _with_keys(self, name: str, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
        if len(choices) > MANY:
            return choices
        keys = self._keys.assign(name, [choice.value for choice in choices], with_row=True)
        return tuple(replace(choice, key=key) for choice, key in zip(choices, keys, strict=True))

    def _columns(self, path: tuple[str, ...], item: Schema) -> tuple[Field, ...]:
        """A field for each member of a list's objects; none if one of them is no single value."""
        properties, required = item.get("properties"), item.get("required")
        if item.get("type") != "object" or not isinstance(properties, dict) or len(properties) > MAX_COLUMNS:
            return ()
        columns = []
        for name, member in properties.items():
            schema, nullable = resolve(member, self._root)
            choices = members(schema)
            kind = "choice" if choices else _plain_kind(schema)
            if kind == "json":
                return ()
            labels, texts = labels_and_texts(choices, is_typed=False)
            columns.append(
                Field(
                    path=(*path, name),
                    id="",
                    kind=kind,
                    label=title_of(schema, name),
                    help=_help(schema),
                    required=isinstance(required, list) and name in required,
                    choices=tuple(
                        Choice(value, text, label, title=title)
                        for (value, title), text, label in zip(choices, texts, labels, strict=True)
                    ),
                    input_type=INPUT_TYPES.get(str(schema.get("format")), "text"),
                    limits=limits_of(schema),
                    nullable=nullable and not any(value is None for value, _ in choices),
                    widget="cell",
                )
            )
        return tuple(columns)

    def _choices(
        self, name: str, members: Sequence[tuple[Json, str]], *, is_typed: bool, with_row: bool
    ) -> tuple[Choice, ...]:
        if not members:
            return ()
        many = len(members) > MANY
        labels, texts = labels_and_texts(members, is_typed=is_typed)
        keys = (
            [None] * len(members)
            if many
            else self._keys.assign(name, [value for value, _ in members], with_row=with_row)
        )
        return tuple(
            Choice(value, text, label, key, title)
            for (value, title), text, label, key in zip(members, texts, labels, keys, strict=True)
        )


def _names(columns: Iterable[Field]) -> set[str]:
    return {column.path[-1] for column in columns}


_SIMPLE = ("string", "number", "integer")


def _is_group(schema: Schema, siblings: Schema, name: str, depth: int) -> bool:
    """Whether an object gets a field for each property: not if a sibling has the dotted name of one."""
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict) or not properties:
        return False
    return depth < DEEPEST and not any(f"{name}.{inner}" in siblings for inner in properties)


def _widget(schema: Schema, choices: Sequence[tuple[Json, str]]) -> Widget:
    """What the schema's ``x-widget`` asks for, if its choices allow it: a rating needs few whole numbers."""
    if schema.get("x-widget") == "tree":
        return "tree"
    is_scale = len(choices) <= SCALE and all(type(value) is int for value, _label in choices)
    return "rating" if schema.get("x-widget") == "rating" and is_scale else ""


def _list_kind(choices: Sequence[Any], columns: Sequence[Field], item: Schema, schema: Schema) -> Kind:
    """``ranking`` if the list must contain each choice once, since then only the order counts."""
    if columns:
        return "rows"
    if not choices:
        return "lines" if item.get("type") in _SIMPLE else "json"
    has_all = schema.get("minItems") == schema.get("maxItems") == len(choices)
    return "ranking" if has_all and schema.get("uniqueItems") is True else "choices"


def _plain_kind(schema: Schema) -> Kind:
    match schema.get("type"):
        case "string":
            longest = schema.get("maxLength")
            short = schema.get("format") in INPUT_TYPES or (isinstance(longest, int) and longest <= ONE_LINE)
            return "text" if short else "long-text"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case _:
            return "json"


def title_of(schema: Schema, name: str) -> str:
    """The title of a question, else its name as words."""
    return str(schema.get("title") or name.replace("_", " ").strip().capitalize() or name)


def _help(schema: Schema) -> str:
    return str(schema.get("description") or "")
