"""The sentence of each rule that an argument can break: *expected …, got …: what to do*.

An error has a rule and values; only here do they become English, and pages translate these texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_MAX_SHOWN = 60  # characters of a refused value in a sentence
_MAX_TEXT = 1_000  # characters of a text among the values
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")

Translate = Callable[[str], str]


def N_(text: str) -> str:  # noqa: N802 - gettext's name for it
    """Mark a text for translation; a page translates it when it is shown."""
    return text


@dataclass(frozen=True, slots=True)
class Rule:
    """The texts of a rule. ``got`` and ``advice`` are left out if the error lacks a value that they name. A
    ``sentence``, if there is one, stands for the three, without the name of the field."""

    expected: str = ""
    got: str = "%(value)s"
    advice: str = ""
    sentence: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to translate."""
        return tuple(filter(None, (self.expected, self.got, self.advice, self.sentence)))


_JSON_ADVICE = N_("pass its payload, id and so on, or call enqueue_many")
_SHEET = N_("save the sheet as CSV, and import that")

_IN_STATE = N_("an item that is %(states)s")
_OTHER_STATE = N_("'%(id)s', which is %(state)s")
_WHEN = N_("when: an object that maps questions to an object of earlier questions and their answers")

RULES: Final[dict[str, Rule]] = {
    # values
    "required": Rule(N_("a value"), N_("none")),
    "type": Rule("%(type)s", "%(kind)s"),
    "range": Rule(N_("a whole number from %(minimum)s to %(maximum)s")),
    "number": Rule(N_("a number from %(minimum)s to %(maximum)s")),
    "boolean": Rule(N_("true or false")),
    "one_of": Rule(N_("one of %(choices)s"), advice=N_("did you mean %(near)s?")),
    "each_one_of": Rule(N_("a list of one or more of %(choices)s")),
    "text": Rule(N_("text of at most %(maximum)s characters")),
    "printable": Rule(N_("%(minimum)s to %(maximum)s printable characters")),
    "ascii": Rule(N_("%(minimum)s to %(maximum)s printable ASCII characters without spaces")),
    "visible": Rule(N_("visible characters only"), N_("%(character)s, which is not visible")),
    "surrogates": Rule(N_("text without lone surrogates")),
    # names and ids
    "queue_name": Rule(N_("1 to 64 characters of a-z 0-9 . _ -, and not . or ..")),
    "follower_name": Rule(N_("1 to 64 of a-z, 0-9, - and _, beginning with a letter")),
    "person_name": Rule(N_("a name without / and \\, and not . or ..")),
    "other_name": Rule(N_("a name other than the person's")),
    "dot_segments": Rule(N_("an id in which no part between slashes or backslashes is . or ..")),
    "skill_list": Rule(N_("a list of skills")),
    "skills": Rule(N_("at most %(maximum)s skills, each 1 to 64 characters of a-z 0-9 . _ -")),
    "queue_names": Rule(N_("a list of at most %(maximum)s queue names, each 1 to 64 of a-z 0-9 . _ -")),
    # JSON
    "json_size": Rule(N_("at most %(maximum)s bytes of JSON"), "%(count)s"),
    "json_depth": Rule(N_("JSON at most %(maximum)s levels deep")),
    "json_containers": Rule(N_("JSON with at most %(maximum)s arrays and objects")),
    "json_digits": Rule(N_("whole numbers of at most %(maximum)s digits")),
    "json_double": Rule(N_("numbers that a double can hold")),
    "json_constant": Rule(N_("JSON numbers"), "%(name)s"),
    "json_keys": Rule(N_("each key once in an object"), N_("'%(name)s' twice")),
    "json_text_keys": Rule(N_("objects with text keys"), N_("the key %(key)s")),
    "json_values": Rule(N_("JSON values only"), "%(why)s"),
    "json_new_item": Rule(N_("a JSON value"), N_("a NewItem"), _JSON_ADVICE),
    "json": Rule(N_("well-formed JSON"), N_("an error (%(why)s)")),
    "utf8": Rule(N_("UTF-8 text"), N_("byte %(at)s, which is not valid")),
    # times
    "moment": Rule(N_("a datetime with a time zone, such as datetime.now(UTC), from 1970 to 9000")),
    "utc_time": Rule(N_("a time like 2026-11-21T10:05:00.123Z")),
    "time_or_date": Rule(N_("a time like 2026-11-21T10:05:00Z, or a date")),
    "date_order": Rule(
        N_("a time like 2026-11-21T10:05:00Z, or a date"),
        advice=N_("for dates such as 3/4/2026, say whether the day or the month is first"),
    ),
    "day_first": Rule(N_("a date with the day first")),
    "month_first": Rule(N_("a date with the month first")),
    "day_or_time": Rule(N_("a day such as 2026-11-21, or a time with its zone such as 2026-11-21T10:05:00Z")),
    "day_or_time_in": Rule(
        N_("a day such as 2026-11-21, or a time such as 2026-11-21T10:05; both in %(zone)s")
    ),
    "period": Rule(N_("a time before to"), N_("%(since)s, and to is %(until)s")),
    "years": Rule(N_("a time in the years 1 to 9999")),
    "skipped_time": Rule(
        N_("a time that exists in %(zone)s"),
        N_("%(day)s %(time)s, which its clocks skip when they are put forward"),
    ),
    # calls of the library
    "closed": Rule(N_("an open client"), N_("a closed one"), N_("connect again")),
    "event_loop": Rule(
        N_("the event loop of the client's first call"), N_("another"), N_("connect once in each event loop")
    ),
    "lease_queue": Rule(N_("a lease of queue '%(queue)s'"), N_("one of queue '%(other)s'")),
    "lease_none": Rule(
        N_("a Lease, as reserve returns it, or %(parts)s by keyword"),
        N_("None, which reserve returns if there is no item now"),
    ),
    "lease_parts": Rule(N_("a value, since no Lease was passed"), N_("only %(names)s"), N_("pass %(parts)s")),
    "not_together": Rule(N_("no value together with %(other)s"), advice=N_("pass one of the two")),
    "not_with_lease": Rule(
        N_("no value together with a Lease"),
        N_("a Lease whose %(name)s is %(value)s"),
        N_("pass the Lease alone, or %(parts)s alone"),
    ),
    "only_with_outcome": Rule(
        N_("the outcome abandoned or failed, or none, beside a text"), "", N_("only these have a comment")
    ),
    "cursor": Rule(N_("a cursor from an earlier page of this list")),
    "event_cursor": Rule(N_("the cursor of an event")),
    "answers_cursor": Rule(N_("a cursor of a queue's answers, or %(beginning)s for the beginning")),
    "other_queues_cursor": Rule(
        N_("a cursor of the queue '%(queue)s', or %(beginning)s for the beginning"),
        N_("one of the queue '%(other)s'"),
    ),
    "policy_version": Rule(N_("a policy, or the version of a policy")),
    "policy_field": Rule(
        N_("a policy field, which are %(choices)s"), N_("'%(name)s'"), N_("did you mean %(near)s?")
    ),
    "request_id": Rule(N_("a different id for each request"), N_("one that was used with different content")),
    "still_reserving": Rule(
        N_("a person who reserves nothing during this call"),
        N_("'%(person)s', who did %(count)s times"),
        N_("stop what works under this name, and erase it again"),
    ),
    # the item's state
    "state": Rule(_IN_STATE, _OTHER_STATE),
    "release_first": Rule(_IN_STATE, _OTHER_STATE, N_("release it first")),
    "revive_first": Rule(_IN_STATE, _OTHER_STATE, N_("revive it first")),
    "reopen_first": Rule(_IN_STATE, _OTHER_STATE, N_("reopen it first")),
    "enqueue_anew": Rule(_IN_STATE, _OTHER_STATE, N_("enqueue it anew")),
    "dead_part": Rule(
        N_("an item that has not died"), N_("'%(id)s', of which a part is dead"), N_("revive it first")
    ),
    "payload_fixed": Rule(
        N_("no change of the payload, since somebody holds or answered '%(id)s'"),
        "",
        N_("change its other fields, or add a new item"),
    ),
    "holds_or_answered": Rule(
        N_("a person who neither holds nor has answered '%(id)s'"),
        N_("'%(person)s', who holds or answered it"),
    ),
    "holds_or_answered_part": Rule(
        N_("a person who neither holds nor has answered another part of '%(id)s'"),
        N_("'%(person)s', who holds or answered one"),
    ),
    "late_token": Rule(N_("the token of a late answer of '%(id)s'"), N_("%(token)s, which none has")),
    "answer_token": Rule(N_("the token of an answer that '%(id)s' has"), N_("%(token)s, which none has")),
    "one_answer": Rule(N_("a late answer from a person who has no other answer and does not hold the item")),
    "answers": Rule(N_("at most %(maximum)s, the number of answers that '%(id)s' needs now")),
    "too_many_leases": Rule(
        N_("no more leases at once than %(maximum)s"), advice=N_("finish or give one back first")
    ),
    "too_many_renewals": Rule(
        N_("no more renewals of one lease than %(maximum)s"), advice=N_("finish the item or give it back")
    ),
    "too_many_rows": Rule(
        N_("at most %(maximum)s different sets of skills and assigned people may have waiting items at once")
    ),
    "undo": Rule(N_("a call within %(seconds)s seconds after the end of the lease"), N_("a later one")),
    # the server and its settings
    "no_server": Rule(
        N_("a URL, since no server was found without one"),
        N_(
            "none: %(variable)s is not set, and no `leaseq up` is running for the data directory '%(data)s', "
            "which %(source)s"
        ),
        N_(
            "start one there with `leaseq up`, set %(data_variable)s to the directory of a running one, or "
            "set %(variable)s"
        ),
    ),
    "url": Rule(N_("a URL that begins with %(schemes)s")),
    "url_syntax": Rule(
        N_("a URL that redis-py understands, a password's special characters percent-encoded")
    ),
    "url_option": Rule(
        N_("a URL with options among %(choices)s"), N_("the option '%(name)s'"), N_("did you mean %(near)s?")
    ),
    "url_value": Rule(N_("another value of the URL's option '%(name)s'"), N_("one that it does not accept")),
    "socket": Rule(N_("the absolute path of a socket, after three slashes: unix:///run/valkey.sock")),
    "sentinel": Rule(N_("a Sentinel URL that names the service: redis+sentinel://host:26379/mymaster/0")),
    "durable_file": Rule(
        N_("a server with an append-only file, which 'fsync' needs"),
        N_("one without (appendonly no)"),
        N_("set appendonly yes and appendfsync always on the server, or choose 'server'"),
    ),
    "durable_appendfsync": Rule(
        N_("a server with appendfsync always, which 'fsync' needs"),
        N_("one with appendfsync %(fsync)s, with which it may confirm writes that a power cut loses"),
        N_("set appendfsync always on the server, or choose 'server'"),
    ),
    "durable_config": Rule(
        N_("a server with appendfsync always, which 'fsync' needs"),
        N_("one that does not allow this user to read that setting"),
        N_(
            "allow the user who configures the queue to call CONFIG GET (the ACL rule +config|get), or "
            "choose 'server'"
        ),
    ),
    "durable_disk": Rule(
        N_("a server whose disk confirms, which 'fsync' needs"),
        N_("no confirmation within %(milliseconds)s ms"),
        N_("check its log, or choose 'server'"),
    ),
    "durable_replica": Rule(
        N_("a server with a connected replica, which 'replica' needs"),
        N_("one with none that answers"),
        N_("connect one, or choose 'server'"),
    ),
    "durable_count": Rule(
        N_("a server that reports the number of replicas, which 'majority' needs"),
        N_("an error (%(why)s)"),
        N_(
            "add the ACL rule +info, or give a URL of Sentinel or a cluster, which count the replicas, or "
            "choose 'server'"
        ),
    ),
    "durable_majority": Rule(
        N_("a server with %(quorum)s connected replicas, which 'majority' needs"),
        N_("one with %(count)s, of which %(confirmations)s answered"),
        N_("connect them, or choose 'server'"),
    ),
    "durable_command": Rule(
        N_("a server with %(command)s, which '%(durable)s' needs"),
        N_("an error (%(why)s)"),
        N_("use Valkey, or Redis 7.2 or newer, or choose 'server'"),
    ),
    "durable_permission": Rule(
        N_("a server with %(command)s, which '%(durable)s' needs"),
        N_("one that does not allow it to this user"),
        N_("add the ACL rule that allows %(command)s, or choose 'server'"),
    ),
    # the policy
    "bands": Rule(N_("two whole numbers, the first no larger than the second")),
    "alerts": Rule(N_("a list of rules such as waiting>500")),
    "alert": Rule(
        N_("rules such as waiting>500: one of %(choices)s, '>' and a whole number from 0 to %(maximum)s")
    ),
    "one_alert": Rule(
        N_("one rule for each measure"), N_("two for %(measure)s"), N_("leave one of them out")
    ),
    # the form
    "form": Rule(
        N_("an answer that fits the queue's form"),
        sentence=N_("the result does not fit the queue's form: %(question)s: %(why)s"),
    ),
    "form_parts": Rule(N_("an object with the optional members show, ask, keys, prefill and when")),
    "form_keys": Rule(N_("keys: an object that maps single characters to choices")),
    "form_prefill": Rule(N_("prefill: an object that maps questions to fields of the payload")),
    "form_member": Rule(N_("%(part)s: only %(choices)s"), N_("'%(name)s'"), N_("did you mean %(near)s?")),
    "form_show": Rule(N_("show: a list of {field, kind}, kind one of %(choices)s")),
    "form_ask": Rule(N_("ask: a JSON Schema of type object")),
    "form_schema": Rule(N_("ask: a self-contained JSON Schema (draft 2020-12)"), "%(why)s"),
    "form_too_large": Rule(N_("ask: %(limit)s")),
    "form_when": Rule(_WHEN),
    "form_when_unknown": Rule(
        _WHEN,
        N_("'%(name)s', which is not a question of ask"),
    ),
    "form_when_empty": Rule(
        _WHEN,
        N_("no answer for '%(name)s'"),
    ),
    "form_when_later": Rule(
        _WHEN,
        N_("'%(other)s', which is not a question before '%(name)s'"),
    ),
    "simulated_form": Rule(
        N_("types, choices, bounds, lengths and formats, but no patterns or conditions"),
        N_("a form for which no answer can be made up (%(why)s)"),
    ),
    "rates": Rule(N_("abandon, fail and walk-away rate together at most 1")),
    # new items
    "payload_misspelt": Rule(
        N_("a payload"),
        N_("none, and '%(name)s', which is not a field of a new item"),
        N_("did you mean %(near)s?"),
    ),
    "payload_unwrapped": Rule(
        N_("a payload"),
        N_("none, and '%(names)s', which a new item does not have"),
        N_("wrap the payload, %(shape)s"),
    ),
    "item_field": Rule(
        N_("a field of a new item: %(choices)s"), N_("'%(name)s'"), N_("did you mean %(near)s?")
    ),
    "item_shape": Rule(N_("an object %(shape)s")),
    "id_required": Rule(N_("the id that the item had"), N_("none")),
    # files
    "binary": Rule(N_("a stream of bytes"), N_("a stream of text"), N_("open the file with '%(mode)s'")),
    "format": Rule(
        N_("one of %(choices)s"),
        N_("the file name '%(name)s', which ends with none of %(endings)s"),
        N_("name the format"),
    ),
    "format_url": Rule(
        N_("one of %(choices)s"),
        N_("the URL '%(name)s', which is not fetched"),
        N_("pipe it in, curl -fsS URL | leaseq import QUEUE - --format csv"),
    ),
    "format_sheet": Rule(
        N_("one of %(choices)s"),
        N_("'%(name)s', a spreadsheet"),
        N_("save it as xlsx or as CSV (UTF-8) there, and import that file"),
    ),
    "format_parquet": Rule(
        N_("one of %(choices)s"),
        N_("'%(name)s', a Parquet file"),
        N_(
            "write it as JSONL, with duckdb for instance: COPY (FROM 'rows.parquet') TO 'rows.jsonl' "
            "(FORMAT json)"
        ),
    ),
    "for_formats": Rule(N_("a value only for %(formats)s"), N_("the format %(format)s")),
    "delimiter": Rule(N_("a comma, a semicolon, a tab or a pipe, for csv and tsv")),
    "quotes": Rule(N_("auto, double or none, for csv and tsv")),
    "header_line": Rule(N_("a line of the file, from 1; or 0 if it has no header")),
    "sheet_format": Rule(N_("xlsx, for the rows of a sheet")),
    "columns": Rule(N_("a list of columns, such as ['%(name)s']"), N_("a text")),
    "row_object": Rule(N_("an object with named fields")),
    "id_field_object": Rule(N_("an object with a field '%(name)s'")),
    "id_field": Rule(N_("a field '%(name)s'"), N_("a row without it")),
    "id_value": Rule(N_("text or a whole number")),
    "cell_boolean": Rule(N_("true or false, as in the cells above")),
    "cell_number": Rule(N_("a number, as in the cells above")),
    "cell_json": Rule(N_("a JSON list or object, as in the cells above")),
    "cell_value": Rule(N_("true, false, a number, or a JSON list or object")),
    "encoding": Rule(
        N_("a text encoding, such as cp1252, utf-16 or shift_jis"), advice=N_("did you mean %(near)s?")
    ),
    "encoding_byte": Rule(
        N_("the file's encoding"),
        N_("%(encoding)s, in which the byte %(byte)s of line %(line)s is not valid"),
        N_("name the encoding that the file has"),
    ),
    "encoding_mark": Rule(
        N_("the file's encoding"),
        N_("%(encoding)s, which it is not (%(why)s)"),
        N_("name the encoding that the file has"),
    ),
    "gzip": Rule(N_("a whole gzip file"), N_("one that is damaged or cut off (%(why)s)")),
    "xlsx_extra": Rule(
        N_("leaseq installed with the extra xlsx"),
        N_("no openpyxl"),
        N_("pip install 'leaseq[xlsx]'"),
    ),
    "sheet_bytes": Rule(N_("at most %(maximum)s bytes of xlsx"), N_("more"), _SHEET),
    "sheet_rows": Rule(N_("at most %(maximum)s rows in a sheet"), N_("more"), _SHEET),
    "sheet_unpacked": Rule(
        N_("a workbook that unpacks to at most %(maximum)s bytes and %(times)s times its size"),
        N_("a larger one"),
        _SHEET,
    ),
    "sheet": Rule(
        N_("an xlsx workbook that is whole and has no password"),
        N_("one that can't be read (%(why)s)"),
        N_("open it in a spreadsheet program, save it as xlsx or CSV (UTF-8), and import that"),
    ),
    "xlsx_rows": Rule(N_("at most %(maximum)s rows in xlsx"), N_("more"), N_("export them as csv or jsonl")),
    "xlsx_cell": Rule(
        N_("at most %(maximum)s characters in a cell of xlsx"),
        N_("%(count)s in %(name)s of '%(id)s'"),
        N_("export as csv or jsonl"),
    ),
    "table_columns": Rule(
        N_("at most %(maximum)s columns in a table"),
        N_("rows with more different fields"),
        N_("export them as jsonl"),
    ),
    # rows of files
    "row_header": Rule(sentence=N_("the header can't be read: %(fault)s")),
    "row_empty": Rule(sentence=N_("the file is empty; its first row must name the columns")),
    "row_array": Rule(
        sentence=N_("a JSON file must be one array of rows; for one row per line, use the format jsonl"),
    ),
    "row_array_end": Rule(sentence=N_("the file ends before its array does")),
    "row_after_array": Rule(sentence=N_("there is more after the end of the array; none of it was read")),
    "row_bytes": Rule(sentence=N_("a row of at most %(maximum)s bytes")),
    "row_columns": Rule(
        sentence=N_("expected a row of at most %(maximum)s columns, got %(count)s"),
    ),
    "row_mark": Rule(
        sentence=N_("the first line names '%(mark)s' as the separator, which is not supported"),
    ),
    "row_splits": Rule(
        sentence=N_("the header can be split in several ways, with these numbers of columns: %(splits)s")
    ),
    "row_not_utf8": Rule(sentence=N_("not UTF-8 text")),
    "row_nul": Rule(sentence=N_("a NUL byte; is this file UTF-8 text?")),
    "row_quote_too_long": Rule(
        sentence=N_("a quote opens in this row and does not close within %(maximum)s bytes"),
    ),
    "row_quote": Rule(sentence=N_("a quote opens in this row and does not close")),
    "row_return": Rule(sentence=N_("a bare carriage return; lines end with LF or CRLF")),
    "row_after_quote": Rule(sentence=N_("text follows a quote that closes in this row")),
    "row_malformed": Rule(sentence=N_("not well-formed: %(why)s")),
    "row_title": Rule(
        sentence=N_(
            "expected the names of the columns, got one cell, while line %(line)s has %(count)s: is this "
            "a title?"
        ),
    ),
    "row_unnamed_column": Rule(
        sentence=N_(
            "column %(column)s (%(letter)s) has no name in the header, and this row has %(cell)s there: name "
            "the column in line %(line)s"
        ),
    ),
    "row_width": Rule(
        sentence=N_(
            "expected as many columns as the header has (%(columns)s), got %(count)s (separated by %(marks)s)"
        ),
    ),
    "row_width_sheet": Rule(
        sentence=N_("expected as many columns as the header has (%(columns)s), got %(count)s"),
    ),
    "row_first_width": Rule(
        sentence=N_(
            "expected as many columns as the first row has (%(columns)s), got %(count)s (separated by "
            "%(marks)s)"
        ),
    ),
    "row_first_width_sheet": Rule(
        sentence=N_("expected as many columns as the first row has (%(columns)s), got %(count)s"),
    ),
    "row_column_twice": Rule(
        sentence=N_(
            "the header names the column '%(name)s' twice: rename one of the columns %(first)s and %(second)s"
        ),
    ),
    "row_no_column": Rule(sentence=N_("the header has no column '%(name)s'; it has %(names)s")),
    "row_conflict": Rule(
        sentence=N_(
            "the id '%(id)s' belongs to an item with other content, and nothing was changed: give the row "
            "another id, or remove that item first"
        ),
    ),
    # the bridge
    "database": Rule(N_("postgresql://user:password@host/database, or sqlite:////path/to/a/file")),
    "database_due": Rule(N_("a time from 1970 to 9000, such as 2030-01-31 12:00:00")),
    "database_time": Rule(N_("a time that SQLite can read, such as 2030-01-31 12:00:00")),
    "details": Rule(N_("JSON as the bridge writes it, or NULL")),
    "requires": Rule(N_("comma-separated skills, or a JSON array of skills")),
    "other_window": Rule(
        N_("%(high)s and refilled at %(low)s, like the bridge that works on queue '%(queue)s' now"),
        N_("another"),
        N_("use the same, or stop that one first"),
    ),
    "duplicate": Rule(
        N_("a payload that was not added within the policy's dedupe_seconds"),
        N_("the same one again: this one was not added"),
    ),
    "database_queue": Rule(
        N_("a queue that the database has rows of"), N_("'%(name)s', of which it has none")
    ),
    # webhooks
    "endpoint_disabled": Rule(
        N_("an endpoint that is enabled"),
        N_("a disabled one"),
        N_("run `leaseq webhook enable %(id)s` first"),
    ),
    "replay_since": Rule(N_("a time, unless a delivery is named or only failed ones are sent again")),
    "replay_test": Rule(N_("a delivery of an event"), N_("a test"), N_("send another test")),
    "replay_open": Rule(N_("a delivery that was delivered or finally failed"), N_("one that is still tried")),
    "endpoints": Rule(
        N_("at most %(maximum)s endpoints"), N_("one more"), N_("remove one that is no longer used")
    ),
    "webhook_networks": Rule(N_("addresses or networks such as 10.1.2.0/24, separated by spaces"), "%(why)s"),
    "webhook_url": Rule(
        N_("http:// or https:// and a host, without a user or a fragment, at most %(maximum)s characters"),
        "%(why)s",
    ),
    "webhook_host": Rule(N_("a host whose parts between dots have 1 to %(maximum)s characters")),
    "not_public": Rule(
        N_("a public address"),
        N_("%(address)s of '%(host)s'"),
        N_("to send to it, an operator adds it or its network to %(setting)s"),
    ),
    "not_encrypted": Rule(
        N_("https:// for a public address"), N_("http:// for %(address)s of '%(host)s'"), N_("use https://")
    ),
    "webhook_https": Rule(N_("https://, or http:// and addresses that %(setting)s allows")),
    # the worker
    "handlers": Rule(N_("a mapping from queue names to the functions that work on their items")),
    "handler": Rule(N_("functions that take a lease"), N_("for '%(queue)s' a %(kind)s")),
    "handler_values": Rule(
        N_("a function for each value of '%(name)s', which is text"), N_("for '%(queue)s' %(pair)s")
    ),
    "no_handler": Rule(N_("at least one handler for each queue"), N_("none for '%(queue)s'")),
    "by_for_values": Rule(
        N_("a queue with a handler for each value"), N_("'%(queue)s', which has one for all items")
    ),
    "by_unused": Rule(N_("a handler for each value: {'mail': {'welcome': f, 'reset': g}}, by='kind'"), ""),
    "by_required": Rule(
        N_("the field of the payload whose value says which handler of '%(queue)s' an item is for"),
    ),
    "by_name": Rule(N_("the name of a field of the payload")),
    "worker_queue": Rule(
        N_("values only for queues of this worker, which are %(choices)s"), N_("one for '%(name)s'")
    ),
    # requests
    "parameter": Rule(
        N_("a parameter of this call: %(choices)s"), N_("another"), N_("did you mean %(near)s?")
    ),
    "body_field": Rule(
        N_("a field of this request: %(choices)s"), N_("another"), N_("did you mean %(near)s?")
    ),
    "field_misspelt": Rule(
        N_("a value"),
        N_("none, and '%(name)s', which is not a field of this request"),
        N_("did you mean %(near)s?"),
    ),
    "field_unknown": Rule(
        N_("a value"),
        N_("none, and '%(name)s', which is not a field of this request"),
        N_("its fields are %(choices)s"),
    ),
    "one_value": Rule(N_("one value"), N_("%(count)s in the query")),
    "any_number": Rule(N_("a number")),
    "whole_number": Rule(N_("a whole number")),
    "string": Rule(N_("text")),
    "array": Rule(N_("an array")),
    "json_object": Rule(N_("an object")),
    "min_length": Rule(N_("text of at least %(minimum)s characters")),
    "pattern": Rule(N_("text that matches %(pattern)s")),
    "request": Rule("%(why)s", ""),
    "body_size": Rule(N_("at most %(maximum)s bytes of JSON, or a JSON array"), N_("more")),
    "array_length": Rule(
        N_("at most %(maximum)s items in an array"), N_("more"), N_("send them as %(type)s")
    ),
    "bytes": Rule(
        N_("at most %(maximum)s bytes (LEASEQ_MAX_BODY_BYTES)"),
        N_("more"),
        N_("send several requests; items as application/x-ndjson may be of any size"),
    ),
    "unpacked_body": Rule(
        N_("a body that unpacks to at most %(times)s times its size"), N_("more"), N_("send it unpacked")
    ),
    "content_encoding": Rule(
        N_("the Content-Encoding %(accepted)s"),
        sentence=N_("Content-Encoding: expected %(accepted)s, got %(encoding)s"),
    ),
    "method": Rule(
        N_("one of the methods %(methods)s"), sentence=N_("this path allows %(methods)s, not %(method)s")
    ),
    "http": Rule(N_("valid HTTP/1.1"), N_("an error (%(why)s)")),
    "url_utf8": Rule(N_("text in UTF-8, percent-encoded"), N_("other bytes")),
    "host": Rule(N_("a host in LEASEQ_ALLOWED_HOSTS"), N_("another")),
    "if_match": Rule(N_('the ETag of a GET with its quotes, like "0c5e", or *')),
    "if_none_match": Rule(N_("* only: create the queue if there is none")),
    "policy_not_matched": Rule(
        sentence=N_(
            "the policy of queue '%(queue)s' is not the one that If-Match names, and nothing changed: GET "
            "the queue, and send the ETag that it has now"
        )
    ),
    "key_reused": Rule(
        N_("a new key for each body"),
        sentence=N_("%(header)s: this key was used for another body. Send that body again, or use a new key"),
    ),
    "key_in_progress": Rule(
        sentence=N_(
            "%(header)s: the first request with this key is still being processed: send it again in 1 s"
        )
    ),
    "answer_not_kept": Rule(
        sentence=N_(
            "%(header)s: the first request with this key succeeded, with status %(status)s. Its answer was "
            "not kept, because it was too large or contains a secret: read what it changed"
        )
    ),
    "bad_line": Rule(
        "%(why)s",
        sentence=N_(
            "line %(line)s: %(why)s. The lines before it were added, this line and those after it were not"
        ),
    ),
    "only_for": Rule(N_("a value for %(uses)s, and none otherwise"), ""),
    "token_days": Rule(N_("at most %(maximum)s"), N_("more"), N_("the token of this request expires then")),
    # things that are not there, or not allowed
    "no_item": Rule(
        sentence=N_("queue '%(queue)s' has no item '%(id)s': it was never there, or was removed")
    ),
    "no_lease": Rule(
        sentence=N_("you never had a lease of item '%(id)s' in queue '%(queue)s': reserve to get one")
    ),
    "no_queue": Rule(N_("the name of a queue"), sentence=N_("there is no queue '%(name)s'")),
    "queue_misspelt": Rule(
        N_("the name of a queue"), sentence=N_("there is no queue '%(name)s'; did you mean %(near)s?")
    ),
    "no_queue_or_access": Rule(sentence=N_("there is no queue '%(name)s', or you have no access to it")),
    "queue_deleted": Rule(sentence=N_("there is no queue '%(name)s': it was deleted, with its items")),
    "queue_exists": Rule(sentence=N_("there is already a queue '%(name)s'; it was not changed")),
    "item_finished": Rule(
        sentence=N_(
            "item '%(id)s' of queue '%(queue)s' has an answer (%(count)s in all), and was not removed"
        )
    ),
    "policy_changed": Rule(
        sentence=N_(
            "the policy of queue '%(name)s' was changed in the meantime: check the current policy, "
            "then save again"
        )
    ),
    "no_person": Rule(sentence=N_("there is no person named '%(name)s'")),
    "nothing_here": Rule(
        sentence=N_("there is nothing at this address: it may be mistyped, or what it named was removed")
    ),
    "role": Rule(sentence=N_("this requires the role %(needed)s; yours is %(yours)s: ask an admin")),
    "csrf": Rule(sentence=N_("%(why)s Reload the page; a program sends the token in the header X-CSRFToken")),
    "too_many_requests": Rule(sentence=N_("too many requests: wait, then try again")),
    "server_away": Rule(sentence=N_("the queue server does not answer: try again in a few seconds")),
    "internal": Rule(sentence=N_("the error was logged; the request may or may not have taken effect")),
    # people and access
    "length": Rule(N_("%(minimum)s to %(maximum)s characters"), "%(count)s"),
    "spaces": Rule(N_("no space at its beginning or end")),
    "team": Rule(N_("a team of at most %(maximum)s printable characters, no space at its ends")),
    "used_name": Rule(N_("an unused name"), sentence=N_("there is already a person named '%(name)s'")),
    "lookalike": Rule(
        N_("a name that can't be confused with another"),
        sentence=N_("'%(name)s' looks like '%(other)s', which is taken: choose a name that differs more"),
    ),
    "invited_name": Rule(
        N_("a name that is not invited"),
        sentence=N_("'%(name)s' is already invited: revoke that invitation first"),
    ),
    "name_being_erased": Rule(
        N_("a name whose erasure is finished"),
        sentence=N_("a person named '%(name)s' is being erased: finish that first"),
    ),
    "only_admin": Rule(
        N_("at least one admin who can sign in"),
        sentence=N_("'%(name)s' is the only admin who can sign in: make somebody else admin first"),
    ),
    "has_admin": Rule(
        N_("a link while there is no admin"), sentence=N_("there is already an admin: sign in")
    ),
    "used_link": Rule(
        N_("a link that was not used yet"), sentence=N_("this link was used already or has expired")
    ),
    "no_invitation": Rule(
        N_("an open invitation"), sentence=N_("That invitation was used, revoked, or has expired.")
    ),
    "unknown_person": Rule(
        N_("somebody with an account that is not disabled"), N_("'%(name)s', who has no account")
    ),
    "disabled_person": Rule(
        N_("somebody with an account that is not disabled"), N_("'%(name)s', who is disabled")
    ),
    "disabled_token_person": Rule(
        N_("somebody with an account that is not disabled"),
        N_("'%(name)s', who is disabled, so that their token would not work"),
        N_("enable them on the page People"),
    ),
    "disabled_account": Rule(
        N_("somebody with an account that is not disabled"),
        sentence=N_("Your account is disabled. Ask an admin to enable it."),
    ),
    "no_account": Rule(
        N_("somebody with an account"),
        sentence=N_(
            "The identity provider says that you are %(name)s, and there is no account of that name. Ask an "
            "admin to invite you."
        ),
    ),
    "unlinked_account": Rule(
        N_("an account that is linked to the identity provider"),
        sentence=N_(
            "There is an account %(name)s here, which the identity provider alone does not open. Ask an "
            "admin to let it."
        ),
    ),
    "other_subject": Rule(
        N_("the person who signed in by this name before"),
        sentence=N_("The name %(name)s belonged to somebody else at the identity provider. Ask an admin."),
    ),
    "claim": Rule(
        N_("the claim %(claim)s"),
        sentence=N_("The identity provider did not send your %(claim)s. Ask an admin."),
    ),
    "verified_address": Rule(
        N_("a verified email address"), sentence=N_("The identity provider has not verified your address.")
    ),
    "password_with_name": Rule(
        N_("a password that does not contain the name"),
        sentence=N_("that password contains the name, which is easy to guess"),
    ),
    "common_password": Rule(
        N_("one that is not on the list of common passwords"),
        sentence=N_(
            "that password is a common one, which is easy to guess: use a few words in a row instead"
        ),
    ),
    "current_password": Rule(N_("your current one"), sentence=N_("That is not your current password.")),
    "same_password": Rule(
        N_("the same twice"),
        sentence=N_("The two passwords are different. Type the same password twice."),
    ),
    "recent_sign_in": Rule(N_("within the last ten minutes"), sentence=N_("Please sign in again first.")),
    "late_code": Rule(
        N_("a code within 15 minutes"), sentence=N_("That took more than 15 minutes. Start again.")
    ),
    "wrong_code": Rule(
        N_("the six digits that your device shows now"),
        sentence=N_(
            "That is not the current code. Wait for the next one, and check that your device's clock is "
            "right."
        ),
    ),
    "days_or_never": Rule(N_("a number of days, or never")),
    "scope": Rule(
        N_("at most %(maximum)s"),
        N_("more"),
        N_("a token can't have more rights than its person, a %(role)s"),
    ),
    "no_token": Rule(N_("the id of a token that is in use"), sentence=N_("there is no token '%(id)s'")),
    "tokens": Rule(
        N_("at most %(maximum)s of one person"),
        sentence=N_("'%(name)s' has %(maximum)s API tokens: revoke unused ones first"),
    ),
    "nobody": Rule(N_("people who have an account"), sentence=N_("nobody is named '%(name)s'")),
    "no_access": Rule(
        N_("somebody who may work on the queue"),
        sentence=N_("'%(name)s' has no access to this queue"),
    ),
    "own_group": Rule(
        N_("a group that you are in, or everybody"),
        sentence=N_("'%(name)s' is in none of these groups, and could not change it back"),
    ),
    "empty_group": Rule(N_("at least one person, skill or team; or everybody")),
    "group_people": Rule(N_("at most %(maximum)s people"), "%(count)s", N_("use a skill or a team")),
    "group_teams": Rule(N_("at most %(maximum)s teams"), "%(count)s"),
    "open_queue": Rule(
        N_("a queue that only some may work on"), N_("'%(queue)s', on which everybody may work")
    ),
    "no_people": Rule(N_("at least one person"), N_("none"), N_("select them in the list")),
    "names": Rule(N_("at most %(maximum)s names at once"), "%(count)s"),
    "yourself": Rule(N_("anybody but yourself"), "", N_("you would be signed out")),
    # pages
    "token_value": Rule(N_("the token of a lease or an answer"), N_("none")),
    "whole_from": Rule(N_("a whole number from %(minimum)s")),
    "microseconds": Rule(N_("a time in microseconds since the epoch, as the link to the next page has it")),
    "local_time": Rule(N_("a date and a time in %(zone)s, such as 2026-11-24T17:00")),
    "typed_whole": Rule(sentence=N_("A whole number, such as 42.")),
    "typed_number": Rule(sentence=N_("A number, such as 3.5.")),
    "ambiguous": Rule(sentence=N_("Type %(first)s or %(second)s: it can mean both.")),
    "duration": Rule(N_("a time, such as 90 s, 5 min, 1 h 30 min or 2 d")),
    "long_search": Rule(N_("at most %(maximum)s characters"), "%(count)s"),
    "compared_number": Rule(N_("a number after %(comparison)s")),
    "chosen_items": Rule(N_("at most %(maximum)s items at once, or all items of a search"), N_("more")),
    "chosen_late": Rule(N_("at most %(maximum)s late answers at once"), N_("more")),
    "late_id": Rule(N_("a late answer's token, a space and its item's id")),
    "lower_answers": Rule(N_("lower only for all items that need more answers than the search says"), ""),
    "webhook_queue_name": Rule(N_("another name"), N_("'%(name)s', which has the deliveries of webhooks")),
    "columns_of_list": Rule(N_("at most %(maximum)s columns"), "%(count)s"),
    "column_names": Rule(N_("names of at most %(maximum)s characters"), N_("a longer one")),
    "views": Rule(N_("at most %(maximum)s saved views of a queue"), N_("one more"), N_("remove one first")),
    "messages": Rule(N_("at most %(maximum)s messages about an item"), "%(count)s"),
    "no_file": Rule(N_("a file"), sentence=N_("Choose a file first.")),
    "unchecked_file": Rule(
        N_("a file that was checked as a whole"), sentence=N_("Check the whole file first.")
    ),
    "no_rows": Rule(N_("rows that can be read"), sentence=N_("The file has no rows.")),
    "no_good_rows": Rule(N_("rows that can be read"), sentence=N_("No row can be imported.")),
    "bad_row": Rule(N_("rows that can be read"), sentence="%(why)s"),
    "piece": Rule(N_("the first piece of a file"), N_("none")),
    "import_done": Rule(N_("a new file"), N_("one that was already imported")),
    "empty_item": Rule(N_("at least one field"), sentence=N_("Fill in at least one field of the item.")),
    "no_fields": Rule(
        N_("items whose payloads have fields"),
        sentence=N_("There are no items, or they have no fields."),
    ),
    "unconfirmed_trial": Rule(
        N_("a tick"), sentence=N_("Confirm that the simulated answers are kept in this queue.")
    ),
    "one_simulation": Rule(
        N_("one at a time"),
        sentence=N_("Simulated people are working already: stop them first."),
    ),
    # answers to a form's questions
    "answers_misfit": Rule(N_("an answer that fits the queue's form")),
    "choice": Rule(sentence=N_("Choose one of these.")),
    "several_choices": Rule(sentence=N_("This can mean several: %(options)s. Type one in full.")),
    "ranking": Rule(sentence=N_("Put a different option in each place.")),
    "skipped_clock": Rule(
        sentence=N_("%(zone)s has no %(time)s on %(day)s: its clocks are put forward. Type a later time.")
    ),
}
"""Every rule, by its name."""

EXPECTED: Final = N_("expected %(expected)s")
EXPECTED_GOT: Final = N_("expected %(expected)s, got %(got)s")
SHAPES: Final = {
    "number": N_("the number %(value)s"),
    "array": N_("the array %(value)s"),
    "object": N_("the object %(value)s"),
}


@lru_cache(maxsize=1024)
def placeholders(text: str) -> frozenset[str]:
    """The names of the values that a text contains."""
    return frozenset(_PLACEHOLDER.findall(text))


def expected(
    rule: str, values: Mapping[str, Any], translate: Translate = str, show: Show | None = None
) -> str:
    """The values that the rule allows."""
    texts = RULES[rule]
    return _filled(texts.expected or texts.sentence, values, translate, show or shown)


def sentence(
    rule: str,
    values: Mapping[str, Any],
    translate: Translate = str,
    show: Show | None = None,
    field: str = "",
) -> str:
    """The sentence of a broken rule, beginning with the field if that is given."""
    text = statement(rule, values, translate, show)
    if help := advice(rule, values, translate, show):
        text = f"{text}: {help}"
    return f"{field}: {text}" if field and not RULES[rule].sentence else text


def statement(
    rule: str, values: Mapping[str, Any], translate: Translate = str, show: Show | None = None
) -> str:
    """The sentence of an error: *expected …, got …*."""
    texts, show = RULES[rule], show or shown
    if texts.sentence:
        return _filled(texts.sentence, values, translate, show)
    parts = {"expected": _filled(texts.expected, values, translate, show)}
    if texts.got and placeholders(texts.got) <= values.keys():
        parts["got"] = _filled(texts.got, values, translate, show)
    return translate(EXPECTED_GOT if "got" in parts else EXPECTED) % parts


def advice(rule: str, values: Mapping[str, Any], translate: Translate = str, show: Show | None = None) -> str:
    """The advice of a rule; empty if it has none for these values."""
    text = RULES[rule].advice
    if not text or any(values.get(name) is None for name in placeholders(text)):
        return ""
    return _filled(text, values, translate, show or shown)


def _filled(text: str, values: Mapping[str, Any], translate: Translate, show: Show) -> str:
    return translate(text) % {name: show(name, values[name], translate) for name in placeholders(text)}


def shown(name: str, value: Any, translate: Translate) -> str:
    """A value in a sentence. The refused ``value`` itself is shown with its type in JSON."""
    if name == "value":
        return described(value, translate)
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:,}"
        case list() | tuple():
            return ", ".join(shown("", element, translate) for element in value)
        case dict():
            return ", ".join(f"{element} ({count})" for element, count in value.items())
        case str():
            return value if value.isprintable() else repr(value)[1:-1]
    return "null" if value is None else str(value)


Show = Callable[[str, Any, Translate], str]


def described(value: object, translate: Translate = str) -> str:
    """A refused value: with its type as in JSON, and with the name of a character that can't be seen."""
    text = repr(value)
    text = text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case int() | float():
            return translate(SHAPES["number"]) % {"value": text}
        case list() | tuple():
            return translate(SHAPES["array"]) % {"value": text}
        case dict():
            return translate(SHAPES["object"]) % {"value": text}
        case str() if not value.isprintable():
            unprintable = next(character for character in value if not character.isprintable())
            name = unicodedata.name(unprintable, "")
            return f"{text}, with U+{ord(unprintable):04X}{f' ({name})' if name else ''}"
    return text


def plain(value: object) -> Any:
    """A value as JSON can hold it, shortened if it is long."""
    match value:
        case None | bool() | int():
            return value
        case float() if value - value == 0:  # finite
            return value
        case str():
            return value if len(value) <= _MAX_TEXT else f"{value[: _MAX_TEXT - 1]}…"
        case list() | tuple() if len(repr(value)) <= _MAX_TEXT:
            return [plain(element) for element in value]
        case dict() if len(repr(value)) <= _MAX_TEXT:
            return {str(key): plain(element) for key, element in value.items()}
    return repr(value)[:_MAX_SHOWN]
