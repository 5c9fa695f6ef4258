"""Exports: items and answers, written as rows."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TypeVar

from leaseq import validation
from leaseq.checkpoints import with_checkpoints
from leaseq.engine import codec
from leaseq.errors import Invalid
from leaseq.models import Answer, Filter, Item, Json, ListName, Page
from leaseq.transfer.encodings import BOM, check_binary
from leaseq.transfer.rows import (
    ANSWER_FIELDS,
    FORMATS,
    ITEM_ANSWER_FIELDS,
    ITEM_FIELDS,
    KNOWN_FIELDS,
    MAX_COLUMNS,
    TABLES,
    TEXT_TABLES,
    answer_shape,
    compact_json,
    item_answer_shape,
    item_shape,
)
from leaseq.transfer.workbooks import workbook

NESTED = ("payload", "result")
Cell = TypeVar("Cell")

# A spreadsheet takes a cell that begins with one of these for a formula; the last four are full-width signs.
_RUNS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_JSON_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
# With the apostrophes before it: so that one more marks the cell, and one less gives the text again.
_FORMULA = re.compile(f"'*[{_RUNS}]")
_GUARDED = re.compile(f"''*[{_RUNS}]")


class Columns:
    """The columns of a table, gathered from its rows. They are in the order of ``fields``; the columns of a
    flattened object are in its field's place: first the questions of ``form``, then others in the order in
    which the rows have them."""

    def __init__(self, fields: Sequence[str], form: Json = None) -> None:
        self._columns_by_field: dict[str, dict[str, None]] = {
            name: {} if name in NESTED else {name: None} for name in fields
        }
        if "result" in self._columns_by_field:
            self._columns_by_field["result"].update(
                dict.fromkeys(f"result.{question}" for question in _questions(form))
            )

    def gather(self, shape: Mapping[str, Any]) -> None:
        for name in NESTED:
            if name in shape:
                self._columns_by_field[name].update(dict.fromkeys(_nested_names(name, shape[name])))

    def __len__(self) -> int:
        return sum(map(len, self._columns_by_field.values()))

    def names(self) -> list[str]:
        return [column for columns in self._columns_by_field.values() for column in columns]


def _questions(form: Json) -> Iterable[str]:
    """The names of a form's questions, in its order."""
    ask = form.get("ask") if isinstance(form, dict) else None
    properties = ask.get("properties") if isinstance(ask, dict) else None
    return properties if isinstance(properties, dict) else ()


def flat(shape: Mapping[str, Any], cell: Callable[[Json], Cell]) -> dict[str, Cell]:
    """The row as a mapping from column names to cells."""
    cells = {name: cell(value) for name, value in shape.items() if name not in NESTED}
    for name in NESTED:
        if name not in shape:
            continue
        value = shape[name]
        values = value.values() if isinstance(value, dict) else (value,)
        cells.update(zip(_nested_names(name, value), map(cell, values), strict=True))
    return cells


def raw_cell(value: Json) -> str:
    """The text of one cell: nothing for null, a text itself, and JSON for all other values."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)


def cell(value: Json) -> str:
    """The text of one cell, guarded: an apostrophe is put before a text that begins with what a spreadsheet
    runs. A number such as -5 stays as it is. `unguarded` returns the text as it was."""
    text = raw_cell(value)
    if _FORMULA.match(text) and not _JSON_NUMBER.fullmatch(text):
        return "'" + text
    return text


def unguarded(text: str) -> str:
    """The text of a cell that `cell` wrote, without the apostrophe of the guard."""
    return text[1:] if _GUARDED.match(text) else text


def _nested_names(name: str, value: Json) -> Iterable[str]:
    if isinstance(value, dict):
        return [f"{name}.{key}" for key in value]
    return [name]


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file next to ``path``, and rename it to ``path`` when everything is written.

    If the block raises, the temporary file is removed and the file at ``path`` is unchanged. Only the owner
    may read a new file, since it contains what people answered; one that is replaced keeps its mode, except
    with ``private``.
    """
    original_path, path = path, path.resolve()  # follows a symbolic link to the file itself
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        error.filename = str(original_path)  # instead of the temporary file's name
        raise
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(0o600 if private or not path.exists() else path.stat().st_mode & 0o7777)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


BEGINNING = "0"
"""The cursor before every answer."""
# The queue, a time, and either the tokens of the answers of that time or a place in the list.
_CURSOR = re.compile(r"([a-z0-9._-]{1,64}):([0-9]{1,16})(?:((?:\.[0-9]{1,16})*)|/([A-Za-z0-9_=-]{1,1100}))")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 500
_MAX_TOKENS = 100  # in one cursor, which must fit in a URL


class AnswerSource(Protocol):
    """The parts of a queue that are used here: its name, and the method that reads its answers."""

    name: str

    def find(self, state: ListName, where: Filter, /, *, limit: int, after: str | None) -> Page: ...


class AnswersSince(Iterator[Answer]):
    """The answers accepted after a cursor, in the order of acceptance: all of them, or the next ``limit``.

    ``cursor`` can be read at any time during the iteration. It is where a later iteration must begin: after
    the answers returned so far. It consists of the queue's name, the time of the last answer and the tokens
    of the answers with that time, so that none of them is left out or returned twice. Raises Invalid for a
    cursor of another queue. An answer that a manager adopts or corrects has the time at which they did it.
    An answer that is undone, reopened or deleted before it is read is not returned. ``more`` is true if the
    iteration ended at the limit and there are more answers.

    Only answers put back by `restore` can have equal times. If there are more than 100 of one time, the
    cursor contains the place of the last one instead of the tokens: then an answer may be left out or
    returned twice if others of the same time are put back between two calls.
    """

    def __init__(self, queue: AnswerSource, after: str = BEGINNING, *, limit: int | None = None) -> None:
        self._name = queue.name
        self._time, self._tokens, self._place = _parse_cursor(after, queue.name)
        self.more = False
        maximum = None if limit is None else validation.integer(limit, "limit", 1, 2**53)
        self._answers = self._walk(queue, maximum)

    @property
    def cursor(self) -> str:
        if self._place is not None:
            return f"{self._name}:{self._time}/{urlsafe_b64encode(self._place.encode()).decode()}"
        return f"{self._name}:{'.'.join(map(str, (self._time, *sorted(self._tokens))))}"

    def __next__(self) -> Answer:
        return next(self._answers)

    def _walk(self, queue: AnswerSource, remaining: int | None) -> Iterator[Answer]:
        criteria, place = Filter(since=_EPOCH + timedelta(microseconds=self._time)), self._place
        token_count = len(self._tokens)  # a list that starts at the cursor's time begins with these answers
        while True:
            size = _PAGE if remaining is None else min(_PAGE, remaining + token_count)
            page = queue.find("finished", criteria, limit=size, after=place)
            for item in page.items:
                is_of_cursor = codec.microseconds(item.state_since) == self._time
                for answer in item.answers:
                    if is_of_cursor and answer.token in self._tokens:
                        continue
                    if remaining == 0:
                        self.more = True
                        return
                    remaining = None if remaining is None else remaining - 1
                    self._advance(item, answer.token)
                    yield answer
            place = page.after
            self.more = remaining == 0 and place is not None
            if place is None or self.more:
                return

    def _advance(self, item: Item, token: int) -> None:
        """Move the cursor past an answer."""
        time = codec.microseconds(item.state_since)
        if time != self._time:
            self._time, self._tokens, self._place = time, set(), None
        if self._place is None and len(self._tokens) < _MAX_TOKENS:
            self._tokens.add(token)
        else:
            self._place = item.cursor


def _parse_cursor(cursor: str, queue: str) -> tuple[int, set[int], str | None]:
    """The cursor's time, its tokens, and its place, if it has one instead of tokens."""
    if cursor == BEGINNING:
        return 0, set(), None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Invalid("after", "format", what="answers_cursor", beginning=BEGINNING, value=cursor)
    name, time, tokens, place = match.groups()
    if name != queue:
        raise Invalid("after", "other_queues_cursor", queue=queue, beginning=BEGINNING, other=name)
    if place is None:
        return int(time), set(map(int, filter(None, tokens.split(".")))), None
    try:
        return int(time), set(), urlsafe_b64decode(place).decode()
    except ValueError:
        raise Invalid("after", "format", what="answers_cursor", beginning=BEGINNING, value=cursor) from None


def encode(
    answers: Iterable[Answer], format: str, *, form: Json = None, raw_cells: bool = False, bom: bool = False
) -> Iterator[bytes]:
    """Return the export of ``answers`` in pieces of one row, for a streamed web response.

    JSON is one array with one element per line. Its closing bracket is in the last piece, so a truncated
    export is never well-formed. A table has the columns of all its rows: the answers are kept in a temporary
    file until the last one is read, so the first piece comes late. It also has a column for each question of
    ``form``, the queue's, in the form's order.

    In CSV and TSV, a cell that a spreadsheet would run gets an apostrophe, which `unguarded` removes; with
    ``raw_cells`` none does. ``bom`` begins them with a byte order mark, by which Excel knows that they are
    UTF-8. In xlsx, text is text, numbers are numbers, and a text over 32,767 characters is refused.
    """
    columns = Columns(ANSWER_FIELDS, form)
    return _encode(map(answer_shape, answers), columns, format, raw_cells=raw_cells, bom=bom)


def encode_items(
    items: Iterable[Item],
    format: str,
    *,
    max_attempts: int,
    with_answers: bool = False,
    form: Json = None,
    raw_cells: bool = False,
    bom: bool = False,
) -> Iterator[bytes]:
    """The same for items; the rows are made by `item_shape`. From JSON and JSONL, `read` with ``envelope``
    creates equal new items. ``max_attempts`` is the policy's.

    ``with_answers`` adds the answers that count: in JSON and JSONL as the list ``answers`` of each item; a
    table has a row for each answer, and one for an item without any, with a column for each question of
    ``form``.
    """
    pairs = ((item_shape(item, max_attempts), item.answers if with_answers else ()) for item in items)
    names: tuple[str, ...] = (*ITEM_FIELDS, *KNOWN_FIELDS)
    shapes: Iterable[dict[str, Any]]
    if format in TABLES:
        names = (*names, *ITEM_ANSWER_FIELDS) if with_answers else names
        shapes = (row for shape, answers in pairs for row in _table_rows(shape, answers))
    elif with_answers:
        shapes = ({**shape, "answers": list(map(item_answer_shape, answers))} for shape, answers in pairs)
    else:
        shapes = (shape for shape, _ in pairs)
    return _encode(shapes, Columns(names, form), format, raw_cells=raw_cells, bom=bom)


def _table_rows(shape: dict[str, Any], answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    # Skills and the form as an import reads them from a column.
    form = None if shape["form"] is None else compact_json(shape["form"])
    row = {**shape, "requires": " ".join(shape["requires"]), "form": form}
    if not answers:
        yield row
    for answer in answers:
        yield {**row, **item_answer_shape(answer)}


def _encode(
    shapes: Iterable[dict[str, Any]], columns: Columns, format: str, **options: bool
) -> Iterator[bytes]:
    file_format = validation.one_of(format, FORMATS, "format")
    for name, is_set in options.items():
        if is_set and file_format not in TEXT_TABLES:
            raise Invalid(name, "file_format", what="option", formats=TEXT_TABLES, format=file_format)
    if file_format == "jsonl":
        return (compact_json(shape).encode() + b"\n" for shape in shapes)
    if file_format == "json":
        return _array(shapes)
    if file_format == "xlsx":
        return _workbook(shapes, columns)
    return _table(shapes, columns, "," if file_format == "csv" else "\t", **options)


def write(
    answers: Iterable[Answer],
    stream: BinaryIO,
    format: str,
    *,
    form: Json = None,
    raw_cells: bool = False,
    bom: bool = False,
) -> None:
    """Write the export of ``answers`` to ``stream``, as `encode` makes it. To count them, count what the
    iterable yields."""
    check_binary(stream, "wb")
    for piece in encode(answers, format, form=form, raw_cells=raw_cells, bom=bom):
        stream.write(piece)


def _array(shapes: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    before = b"[\n"
    for shape in shapes:
        yield before + compact_json(shape).encode()
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _workbook(shapes: Iterable[dict[str, Any]], columns: Columns) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as spool:
        names = _spool_rows(shapes, columns, spool)
        rows = (flat(json.loads(record), lambda value: value) for record in with_checkpoints(spool))
        yield from workbook(names, rows)


def _table(
    shapes: Iterable[dict[str, Any]], columns: Columns, delimiter: str, *, raw_cells: bool, bom: bool
) -> Iterator[bytes]:
    text_of = raw_cell if raw_cells else cell
    with tempfile.TemporaryFile() as spool:
        names = _spool_rows(shapes, columns, spool)
        buffer = io.StringIO()
        # CRLF as in RFC 4180; with it the csv module quotes a cell that contains either character.
        writer = csv.DictWriter(buffer, names, restval="", delimiter=delimiter, lineterminator="\r\n")
        writer.writerow({name: text_of(name) for name in names})
        yield (BOM if bom else b"") + buffer.getvalue().encode()
        for record in with_checkpoints(spool):
            buffer.seek(0)
            buffer.truncate()
            writer.writerow(flat(json.loads(record), text_of))
            yield buffer.getvalue().encode()


def _spool_rows(shapes: Iterable[dict[str, Any]], columns: Columns, spool: IO[bytes]) -> list[str]:
    """Write every row to ``spool``, rewind it, and return the names of all columns."""
    for shape in with_checkpoints(shapes):
        columns.gather(shape)
        if len(columns) > MAX_COLUMNS:
            raise Invalid("format", "maximum", what="table_columns", maximum=MAX_COLUMNS)
        spool.write(compact_json(shape).encode() + b"\n")
    spool.seek(0)
    return columns.names()
