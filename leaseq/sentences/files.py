"""Rules of files that are imported or exported, and of their rows."""

from __future__ import annotations

from typing import Final

from leaseq.sentences.rule import Rule

_FORMATS = "one of %(choices)s"
_ENCODING = "the file's encoding"
_OTHER_ENCODING = "name the encoding that the file has"
_COLUMNS = "as many columns as the header has (%(columns)s)"
_AS_FIRST = "as many columns as the first row has (%(columns)s)"
_SEPARATED = ("%(count)s (separated by %(marks)s)", "%(count)s")

ROWS: Final = {
    "empty": "the file is empty; its first row must name the columns",
    "array": "a JSON file must be one array of rows; for one row per line, use the format jsonl",
    "array_end": "the file ends before its array does",
    "after_array": "there is more after the end of the array; none of it was read",
    "mark": "the first line names '%(mark)s' as the separator, which is not supported",
    "splits": "the header can be split in several ways, with these numbers of columns: %(splits)s",
    "utf8": "not UTF-8 text",
    "nul": "a NUL byte; is this file UTF-8 text?",
    "long_quote": "a quote opens in this row and does not close within %(maximum)s bytes",
    "quote": "a quote opens in this row and does not close",
    "return": "a bare carriage return; lines end with LF or CRLF",
    "after_quote": "text follows a quote that closes in this row",
    "malformed": "the row is not well-formed CSV",
    "unnamed_column": "column %(column)s (%(letter)s) has no name in the header, and this row has %(cell)s "
    "there: name the column in line %(line)s",
    "column_twice": "the header names the column '%(name)s' twice: rename one of the columns %(first)s and "
    "%(second)s",
    "no_column": "the header has no column '%(name)s'; it has %(names)s",
    "conflict": "the id '%(id)s' belongs to an item with other content, and nothing was changed: give the "
    "row another id, or remove that item first",
}

RULES: Final[dict[str, Rule | dict[str, Rule]]] = {
    "row": {what: Rule(sentence=text) for what, text in ROWS.items()},
    "header": Rule(sentence="the header can't be read: %(fault)s"),
    "title": Rule(
        "the names of the columns", "one cell, while line %(line)s has %(count)s", "is this a title?"
    ),
    "width": {
        "header": Rule(_COLUMNS, _SEPARATED),
        "first": Rule(_AS_FIRST, _SEPARATED),
    },
    "id_field": Rule("a field '%(name)s'", "a row without it"),
    "date_order": Rule(
        "a time like 2026-11-21T10:05:00Z, or a date",
        advice="for dates such as 3/4/2026, say whether the day or the month is first",
    ),
    "skipped_time": Rule(
        "a time that exists in %(zone)s",
        "%(day)s %(time)s, which its clocks skip when they are put forward",
    ),
    "file_format": {
        "name": Rule(
            _FORMATS, "the file name '%(name)s', which ends with none of %(endings)s", "name the format"
        ),
        "url": Rule(
            _FORMATS,
            "the URL '%(name)s', which is not fetched",
            "pipe it in, curl -fsS URL | leaseq import QUEUE - --format csv",
        ),
        "sheet": Rule(
            _FORMATS,
            "'%(name)s', a spreadsheet",
            "save it as xlsx or as CSV (UTF-8) there, and import that file",
        ),
        "parquet": Rule(
            _FORMATS,
            "'%(name)s', a Parquet file",
            "write it as JSONL, with duckdb for instance: COPY (FROM 'rows.parquet') TO 'rows.jsonl' "
            "(FORMAT json)",
        ),
        "option": Rule("a value only for %(formats)s", "the format %(format)s"),
    },
    "encoding": {
        "name": Rule("a text encoding, such as cp1252, utf-16 or shift_jis", advice="did you mean %(near)s?"),
        "byte": Rule(
            _ENCODING,
            "%(encoding)s, in which the byte %(byte)s of line %(line)s is not valid",
            _OTHER_ENCODING,
        ),
        "mark": Rule(_ENCODING, "%(encoding)s, which it is not", _OTHER_ENCODING),
    },
    "gzip": Rule("a whole gzip file", "one that is damaged or cut off"),
    "workbook": {
        "extra": Rule("leaseq installed with the extra xlsx", "no openpyxl", "pip install 'leaseq[xlsx]'"),
        "whole": Rule(
            "an xlsx workbook that is whole and has no password",
            "one that can't be read",
            "open it in a spreadsheet program, save it as xlsx or CSV (UTF-8), and import that",
        ),
        "cell": Rule(
            "at most %(maximum)s characters in a cell of xlsx",
            "%(count)s in %(name)s of '%(id)s'",
            "export as csv or jsonl",
        ),
    },
}
