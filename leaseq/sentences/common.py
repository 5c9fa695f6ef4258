"""Rules of all parts: formats, limits and choices of a single value. Others are by subject."""

from __future__ import annotations

from typing import Final

from leaseq.sentences.rule import Rule

# A format's text says what is expected; the error says what came.
FORMATS: Final = {
    # kinds of values
    "boolean": "true or false",
    "number": "a number, such as 3.5",
    "whole": "a whole number, such as 42",
    "string": "text",
    "array": "an array",
    "object": "an object",
    "pattern": "text that matches %(pattern)s",
    "surrogates": "text without lone surrogates",
    "url_utf8": "text in UTF-8, percent-encoded",
    # names and ids
    "queue_name": "1 to 64 characters of a-z 0-9 . _ -, and not . or ..",
    "follower_name": "1 to 64 of a-z, 0-9, - and _, beginning with a letter",
    "person_name": "a name without / and \\, and not . or ..",
    "other_name": "a name other than the person's",
    "spaces": "no space at its beginning or end",
    "dot_segments": "an id in which no part between slashes or backslashes is . or ..",
    "skill_list": "a list of skills",
    "skills": "at most %(maximum)s skills, each 1 to 64 characters of a-z 0-9 . _ -",
    "queue_names": "a list of at most %(maximum)s queue names, each 1 to 64 of a-z 0-9 . _ -",
    "team": "a team of at most %(maximum)s printable characters, no space at its ends",
    "group": "at least one person, skill or team; or everybody",
    "late_id": "a late answer's token, a space and its item's id",
    # times
    "moment": "a datetime with a time zone, such as datetime.now(UTC), from 1970 to 9000",
    "utc_time": "a time like 2026-11-21T10:05:00.123Z",
    "time_or_date": "a time like 2026-11-21T10:05:00Z, or a date",
    "day_first": "a date with the day first",
    "month_first": "a date with the month first",
    "day_or_time": "a day such as 2026-11-21, or a time with its zone such as 2026-11-21T10:05:00Z",
    "day_or_time_in": "a day such as 2026-11-21, or a time such as 2026-11-21T10:05; both in %(zone)s",
    "future_time": "a time in the future",
    "local_time": "a date and a time in %(zone)s, such as 2026-11-24T17:00",
    "years": "a time in the years 1 to 9999",
    "microseconds": "a time in microseconds since the epoch, as the link to the next page has it",
    "duration": "a time, such as 90 s, 5 min, 1 h 30 min or 2 d",
    "days_or_never": "a number of days, or never",
    "database_due": "a time from 1970 to 9000, such as 2030-01-31 12:00:00",
    "database_time": "a time that SQLite can read, such as 2030-01-31 12:00:00",
    # calls of the library
    "cursor": "a cursor from an earlier page of this list",
    "event_cursor": "the cursor of an event",
    "answers_cursor": "a cursor of a queue's answers, or %(beginning)s for the beginning",
    "policy_version": "a policy, or the version of a policy",
    "url": "a URL that begins with %(schemes)s",
    "url_syntax": "a URL that redis-py understands, a password's special characters percent-encoded",
    "socket": "the absolute path of a socket, after three slashes: unix:///run/valkey.sock",
    "sentinel": "a Sentinel URL that names the service: redis+sentinel://host:26379/mymaster/0",
    "rates": "abandon, fail and walk-away rate together at most 1",
    "handlers": "a mapping from queue names to the functions that work on their items",
    "by_name": "the name of a field of the payload",
    "replay_since": "a time, unless a delivery is named or only failed ones are sent again",
    "webhook_host": "a host whose parts between dots have 1 to %(maximum)s characters",
    "webhook_https": "https://, or http:// and addresses that %(setting)s allows",
    # the policy and the form
    "bands": "two whole numbers, the first no larger than the second",
    "alerts": "a list of rules such as waiting>500",
    "alert": "rules such as waiting>500: one of %(choices)s, '>' and a whole number from 0 to %(maximum)s",
    "form_parts": "an object with the optional members show, ask, keys, prefill and when",
    "form_keys": "keys: an object that maps single characters to choices",
    "form_prefill": "prefill: an object that maps questions to fields of the payload",
    "form_show": "show: a list of {field, kind}, kind one of %(choices)s",
    "form_ask": "ask: a JSON Schema of type object",
    # files and databases
    "item_shape": "an object %(shape)s",
    "delimiter": "a comma, a semicolon, a tab or a pipe, for csv and tsv",
    "quotes": "auto, double or none, for csv and tsv",
    "header_line": "a line of the file, from 1; or 0 if it has no header",
    "sheet_format": "xlsx, for the rows of a sheet",
    "row_object": "an object with named fields",
    "id_object": "an object with a field '%(name)s'",
    "id_value": "text or a whole number",
    "cell_boolean": "true or false, as in the cells above",
    "cell_number": "a number, as in the cells above",
    "cell_json": "a JSON list or object, as in the cells above",
    "cell_value": "true, false, a number, or a JSON list or object",
    "database": "postgresql://user:password@host/database, or sqlite:////path/to/a/file",
    "details": "JSON as the bridge writes it, or NULL",
    "requires": "comma-separated skills, or a JSON array of skills",
    # requests and pages
    "if_match": 'the ETag of a GET with its quotes, like "0c5e", or *',
    "if_none_match": "* only: create the queue if there is none",
    "fewer_answers": "lower only for all items that need more answers than the search says",
}

_SHEET = "save the sheet as CSV, and import that"

# What is counted, and what to do if there is more.
MAXIMA: Final = {
    # JSON
    "json_bytes": ("at most %(maximum)s bytes of JSON",),
    "json_depth": ("JSON at most %(maximum)s levels deep",),
    "json_containers": ("JSON with at most %(maximum)s arrays and objects",),
    "json_digits": ("whole numbers of at most %(maximum)s digits",),
    # figures of people
    "figure_days": ("at most %(maximum)s days, as long as figures are kept",),
    # a queue
    "answers": ("at most %(maximum)s, the number of answers that '%(id)s' needs now",),
    "leases": ("no more leases at once than %(maximum)s", "finish or give one back first"),
    "renewals": ("no more renewals of one lease than %(maximum)s", "finish the item or give it back"),
    "rows": (
        "at most %(maximum)s different sets of skills and assigned people may have waiting items at once",
    ),
    "endpoints": ("at most %(maximum)s endpoints", "remove one that is no longer used"),
    # files
    "row_bytes": ("a row of at most %(maximum)s bytes",),
    "row_columns": ("a row of at most %(maximum)s columns",),
    "sheet_bytes": ("at most %(maximum)s bytes of xlsx", _SHEET),
    "sheet_rows": ("at most %(maximum)s rows in a sheet", _SHEET),
    "sheet_unpacked": (
        "a workbook that unpacks to at most %(maximum)s bytes and %(times)s times its size",
        _SHEET,
    ),
    "xlsx_rows": ("at most %(maximum)s rows in xlsx", "export them as csv or jsonl"),
    "table_columns": ("at most %(maximum)s columns in a table", "export them as jsonl"),
    # requests
    "body_bytes": ("at most %(maximum)s bytes of JSON, or a JSON array",),
    "request_bytes": (
        "at most %(maximum)s bytes (LEASEQ_MAX_BODY_BYTES)",
        "send several requests; items as application/x-ndjson may be of any size",
    ),
    "array": ("at most %(maximum)s items in an array", "send them as %(type)s"),
    "unpacked": ("a body that unpacks to at most %(maximum)s times its size", "send it unpacked"),
    # people and pages
    "scope": (
        "at most %(maximum)s, the rights of a %(role)s",
        "a token has no right that its person lacks; asking adds items, as managers may",
    ),
    "token_days": ("at most %(maximum)s", "the token of this request expires then"),
    "tokens": ("at most %(maximum)s API tokens of one person", "revoke unused ones first"),
    "group_people": ("at most %(maximum)s people", "use a skill or a team"),
    "group_teams": ("at most %(maximum)s teams",),
    "names": ("at most %(maximum)s names at once",),
    "search": ("at most %(maximum)s characters",),
    "items": ("at most %(maximum)s items at once, or all items of a search",),
    "late_answers": ("at most %(maximum)s late answers at once",),
    "columns": ("at most %(maximum)s columns",),
    "column_names": ("names of at most %(maximum)s characters",),
    "views": ("at most %(maximum)s saved views of a queue", "remove one first"),
    "messages": ("at most %(maximum)s messages about an item",),
}

RULES: Final[dict[str, Rule | dict[str, Rule]]] = {
    "format": {what: Rule(text) for what, text in FORMATS.items()},
    "maximum": {what: Rule(text, ("%(count)s", "more"), *advice) for what, (text, *advice) in MAXIMA.items()},
    "required": Rule(
        "a value",
        ("none, and '%(name)s', which is not a field here", "none"),
        ("did you mean %(near)s?", "the fields are %(choices)s"),
    ),
    "one_of": Rule("one of %(choices)s", advice="did you mean %(near)s?"),
    "each_one_of": Rule("a list of one or more of %(choices)s"),
    "range": Rule("a whole number from %(minimum)s to %(maximum)s"),
    "minimum": Rule("a whole number from %(minimum)s"),
    "number": Rule("a number from %(minimum)s to %(maximum)s"),
    "text": Rule("text of at most %(maximum)s characters"),
    "min_length": Rule("text of at least %(minimum)s characters"),
    "length": Rule("%(minimum)s to %(maximum)s characters", "%(count)s"),
    "printable": Rule("%(minimum)s to %(maximum)s printable characters"),
    "ascii": Rule("%(minimum)s to %(maximum)s printable ASCII characters without spaces"),
    "visible": Rule("visible characters only", "%(character)s, which is not visible"),
    "json": {
        "syntax": Rule("well-formed JSON", "an error at character %(at)s"),
        "utf8": Rule("UTF-8 text", "byte %(at)s, which is not valid"),
        "double": Rule("numbers that a double can hold"),
        "constant": Rule("JSON numbers", "%(name)s"),
        "keys": Rule("each key once in an object", "'%(name)s' twice"),
        "text_keys": Rule("objects with text keys", "the key %(key)s"),
        "values": Rule("JSON values only", "%(why)s"),
        "new_item": Rule("a JSON value", "a NewItem", "pass its payload, id and so on, or call enqueue_many"),
    },
    "period": Rule("a time before to", "%(since)s, and to is %(until)s"),
    "not_together": Rule("no value together with %(other)s", advice="pass one of the two"),
    "only_for": Rule("a value for %(uses)s, and none otherwise"),
}
