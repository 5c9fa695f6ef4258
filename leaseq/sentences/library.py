"""Rules of calls of the library: items and leases, the policy and the form, the server, workers, webhooks."""

from __future__ import annotations

from typing import Final

from leaseq.sentences.rule import Rule

_IN_STATE = ("an item that is %(states)s", "'%(id)s', which is %(state)s")
_WHEN = "when: an object that maps questions to an object of earlier questions and their answers"
_FSYNC = "a server with appendfsync always, which 'fsync' needs"
_COMMAND = "a server with %(command)s, which '%(durable)s' needs"
_AGAIN = (
    "%(why)s; the call may be sent again. docs/durability.md says what the policy's durable requires",
    "the call may be sent again (%(seconds)s seconds were over)",
)
_NEWER = {
    "schema": ("a queue", "one of schema %(name)s; nothing was changed"),
    "field": ("a queue's policy", "one with the field '%(name)s'; nothing was changed"),
    "rule": ("a queue's policy", "one with '%(name)s'"),
    "value": ("a queue's policy", "one with another value of '%(name)s'"),
    "accounts": ("accounts", "those of schema %(name)s"),
}

_PRESENT_STATES = {
    "held": "the same person holds it, under token %(now)s",
    "answered": "it is finished, and its answer stands",
    "answer": "its answer stands",
    "inbound": "it waits for somebody again",
    "scheduled": "it will be tried again later",
    "reserved": "somebody else is on it now",
    "finished": "it is finished",
    "dead": "it is dead",
    "attempts": "its attempts are used up",
}

_NO_OTHERS = Rule("only answers that the form asks for", "%(limit)s")

ANSWERS: Final = {
    "type": Rule("a value of the type %(limit)s"),
    "enum": Rule("one of %(limit)s"),
    "const": Rule("%(limit)s"),
    "minLength": Rule("at least %(limit)s characters"),
    "maxLength": Rule("at most %(limit)s characters"),
    "pattern": Rule("text that matches %(limit)s"),
    "format": Rule("text in the format %(limit)s"),
    "minimum": Rule("at least %(limit)s"),
    "maximum": Rule("at most %(limit)s"),
    "exclusiveMinimum": Rule("more than %(limit)s"),
    "exclusiveMaximum": Rule("less than %(limit)s"),
    "multipleOf": Rule("a multiple of %(limit)s"),
    "minItems": Rule("at least %(limit)s entries"),
    "maxItems": Rule("at most %(limit)s entries"),
    "uniqueItems": Rule("entries that differ"),
    "minProperties": Rule("at least %(limit)s fields"),
    "maxProperties": Rule("at most %(limit)s fields"),
    "required": Rule("a value", ""),
    "additionalProperties": _NO_OTHERS,
    "unevaluatedProperties": _NO_OTHERS,
}
"""What an answer must be, by the keyword of the form's schema that it breaks."""

RULES: Final[dict[str, Rule | dict[str, Rule]]] = {
    # calls
    "type": {
        "lease": Rule(
            "a Lease, as reserve returns it, or %(parts)s by keyword",
            ("%(kind)s", "None, which reserve returns if there is no item now"),
        ),
        "client": Rule("what %(call)s returns", "%(kind)s"),
        "items": Rule("a list or another iterable of payloads or NewItems", "%(kind)s"),
        "filter": Rule("leaseq.Filter", "%(kind)s"),
        "event": Rule("%(type)s or None", "%(kind)s"),
        "stream": Rule("a stream of bytes", "a stream of text", "open the file with '%(mode)s'"),
        "columns": Rule("a list of columns, such as ['%(name)s']", "a text"),
    },
    "closed": Rule("an open client", "a closed one", "connect again"),
    "event_loop": Rule(
        "the event loop of the client's first call", "another", "connect once in each event loop"
    ),
    "lease": {
        "queue": Rule("a lease of queue '%(queue)s'", "one of queue '%(other)s'"),
        "parts": Rule("a value, since no Lease was passed", "only %(names)s", "pass %(parts)s"),
        "both": Rule(
            "no value together with a Lease",
            "a Lease whose %(name)s is %(value)s",
            "pass the Lease alone, or %(parts)s alone",
        ),
    },
    "lease_lost": {
        "unfinished": Rule(
            sentence="this lease of item '%(id)s' was not finished, so there is nothing to undo"
        ),
        "adopted": Rule(
            sentence="a manager adopted the answer of this lease of item '%(id)s'",
            advice="only a manager can change it",
        ),
        **{
            state: Rule(sentence="this lease of item '%(id)s' is over", advice=text)
            for state, text in _PRESENT_STATES.items()
        },
    },
    "no_lease": {
        state: Rule(sentence="'%(person)s' has no lease of item '%(id)s' with token %(token)s", advice=text)
        for state, text in _PRESENT_STATES.items()
    },
    "answer_kept": Rule(sentence="the answer is kept for the manager"),
    "only_with_outcome": Rule(
        "the outcome abandoned or failed, or none, beside a text", advice="only these have a comment"
    ),
    "other_queues_cursor": Rule(
        "a cursor of the queue '%(queue)s', or %(beginning)s for the beginning",
        "one of the queue '%(other)s'",
    ),
    "request_id": Rule("a different id for each request", "one that was used with different content"),
    "still_reserving": Rule(
        "a person who reserves nothing during this call",
        "'%(person)s', who did %(count)s times",
        "stop what works under this name, and erase it again",
    ),
    # items
    "state": {
        "": Rule(*_IN_STATE),
        "release": Rule(*_IN_STATE, "release it first"),
        "revive": Rule(*_IN_STATE, "revive it first"),
        "reopen": Rule(*_IN_STATE, "reopen it first"),
        "enqueue": Rule(*_IN_STATE, "enqueue it anew"),
        "dead_part": Rule(
            "an item that has not died", "'%(id)s', of which a part is dead", "revive it first"
        ),
    },
    "payload_fixed": Rule(
        "no change of the payload, since somebody holds or answered '%(id)s'",
        advice="change its other fields, or add a new item",
    ),
    "not_answered": {
        "expired": Rule(sentence="nobody answered '%(id)s' in time"),
        "cancelled": Rule(sentence="'%(id)s' was cancelled"),
        "dead": Rule(sentence="'%(id)s' is dead: nobody could answer it"),
    },
    "still_waiting": Rule(
        sentence="nobody has answered '%(id)s' yet", advice="wait on with wait_for('%(id)s')"
    ),
    "question": Rule(
        "the payload and the form of the question '%(id)s', or another id",
        "other content",
    ),
    "item_changed": Rule(
        "'%(id)s' as it was when it was read",
        "an item that somebody has changed since",
        "read it again",
    ),
    "assigned": Rule("an item that is assigned to nobody", "'%(id)s', which is assigned to somebody"),
    "payload_unwrapped": Rule(
        "a payload", "none, and '%(names)s', which a new item does not have", "wrap the payload, %(shape)s"
    ),
    "holds_or_answered": {
        "item": Rule(
            "a person who neither holds nor has answered '%(id)s'", "'%(person)s', who holds or answered it"
        ),
        "part": Rule(
            "a person who neither holds nor has answered another part of '%(id)s'",
            "'%(person)s', who holds or answered one",
        ),
        "late": Rule("a late answer from a person who has no other answer and does not hold the item"),
    },
    "token": {
        "late": Rule("the token of a late answer of '%(id)s'", "%(token)s, which none has"),
        "answer": Rule("the token of an answer that '%(id)s' has", "%(token)s, which none has"),
    },
    "undo": Rule("a call within %(seconds)s seconds after the end of the lease", "a later one"),
    "undo_told": Rule(
        "an answer that nobody has been told",
        "that of '%(id)s': the program that asked has it",
        "a manager can correct it",
    ),
    "duplicate": Rule(
        "a payload that was not added within the policy's dedupe_seconds",
        "the same one again: this one was not added",
    ),
    # the policy and the form
    "one_alert": Rule("one rule for each measure", "two for %(measure)s", "leave one of them out"),
    "form": Rule(sentence="the result does not fit the form: %(question)s: %(why)s"),
    "answer": {
        **ANSWERS,
        "keyword": Rule("a value that fits the form's %(keyword)s"),
        "none": Rule("no answer", "", "leave it out"),
        "no_text": Rule("no passages, since the item has no text at '%(path)s'", ""),
        "passage": Rule("a start before its end, both within the text's %(maximum)s characters", "%(value)s"),
        "words": Rule("as text the words from %(start)s to %(end)s", "others"),
        "hidden": Rule("no answer, since it is asked only with %(condition)s", "", "leave it out"),
        "length": Rule(
            "at most %(maximum)s characters, less where other answers are long, since the form matches a "
            "pattern on them",
            "%(count)s",
        ),
        "somewhere": Rule("an answer that fits the form; this one is too long to say where it does not", ""),
    },
    "form_member": Rule("%(part)s: only %(choices)s", "'%(name)s'", "did you mean %(near)s?"),
    "form_option": {
        "kind": Rule("show: '%(name)s' only with the kind %(kind)s", "it with another kind"),
        "text": Rule("show: '%(name)s': a text", "another value, or none"),
        "currency": Rule("show: 'currency': a code of three letters, such as EUR"),
    },
    "form_schema": {
        "type": Rule("ask: a type", "'%(name)s'", ("did you mean %(near)s?", "the types are %(choices)s")),
        "pattern": Rule(
            "ask: %(place)sa regular expression without look-around and back references", "'%(pattern)s'"
        ),
        "reference": Rule("ask: references to places in the form itself", "'%(reference)s'"),
        "cycle": Rule(
            "ask: no reference that leads back to the same value of a result",
            "one that does",
            "point into a property or an item",
        ),
        "contradiction": Rule("ask: %(place)srules that an answer can meet", "rules that none can"),
        "other": Rule("ask: a self-contained JSON Schema (draft 2020-12)", "%(why)s"),
    },
    "form_too_large": {
        "pattern": Rule(
            "ask: %(place)sa pattern of at most %(maximum)s bytes when compiled",
            "'%(pattern)s', which is larger",
            "repeat less in it, or limit the length with maxLength",
        ),
        "patterns": Rule(
            "ask: %(place)spatterns of at most %(maximum)s bytes together when compiled", "larger ones"
        ),
        "checks": Rule(
            "ask: references and rules that check one value at most %(maximum)s times", "more checks"
        ),
        "subschemas": Rule("ask: at most %(maximum)s subschemas with all references followed", "more"),
    },
    "form_when": {
        "shape": Rule(_WHEN),
        "unknown": Rule(_WHEN, "'%(name)s', which is not a question of ask"),
        "empty": Rule(_WHEN, "no answer for '%(name)s'"),
        "later": Rule(_WHEN, "'%(other)s', which is not a question before '%(name)s'"),
    },
    "simulated_form": Rule(
        "types, choices, bounds, lengths and formats, but no patterns or conditions",
        "a form for which no answer can be made up (%(why)s)",
    ),
    # the server
    "no_server": Rule(
        "a URL, since no server was found without one",
        "none: %(variable)s is not set, and no `leaseq up` is running for the data directory '%(data)s'",
        "start one there with `leaseq up`, set %(data_variable)s to the directory of a running one, or set "
        "%(variable)s",
    ),
    "no_answer": {
        "server": Rule(sentence="no answer from %(address)s: %(why)s"),
        "sentinel": Rule(sentence="no sentinel of %(address)s knows the primary of '%(service)s'"),
    },
    "server_refused": {
        "error": Rule(sentence="the server refused: %(why)s"),
        "password": Rule(sentence="the server did not accept the user or password: %(why)s"),
    },
    "unconfirmed": {
        "fsync": Rule(sentence="the server made this change, but its disk did not confirm it", advice=_AGAIN),
        "replica": Rule(sentence="the server made this change, but no replica confirmed it", advice=_AGAIN),
        "majority": Rule(
            sentence="the server made this change, but %(quorum)s of its replicas did not confirm it",
            advice=_AGAIN,
        ),
    },
    "restoring": Rule(
        "a queue that is not being restored from a backup",
        "one that is",
        "wait until that is done; where it was interrupted, run the restore again, or delete the queue",
    ),
    "newer": {
        part: Rule(f"{known} that this version of leaseq knows", got, "use a newer version of leaseq")
        for part, (known, got) in _NEWER.items()
    },
    "url_value": Rule("another value of the URL's option '%(name)s'", "one that it does not accept"),
    "durable": {
        "file": Rule(
            "a server with an append-only file, which 'fsync' needs",
            "one without (appendonly no)",
            "set appendonly yes and appendfsync always on the server, or choose 'server'",
        ),
        "appendfsync": Rule(
            _FSYNC,
            "one with appendfsync %(fsync)s, with which it may confirm writes that a power cut loses",
            "set appendfsync always on the server, or choose 'server'",
        ),
        "appendfsync_now": Rule(
            _FSYNC,
            "one that now has appendfsync %(fsync)s and may confirm writes that a power cut loses; "
            "nothing was changed",
            "set appendfsync always on the server, or set the queue's durable to 'server'",
        ),
        "config": Rule(
            _FSYNC,
            "one that does not allow this user to read that setting",
            "allow the user who configures the queue to call CONFIG GET (the ACL rule +config|get), or "
            "choose 'server'",
        ),
        "disk": Rule(
            "a server whose disk confirms, which 'fsync' needs",
            "no confirmation within %(milliseconds)s ms",
            "check its log, or choose 'server'",
        ),
        "replica": Rule(
            "a server with a connected replica, which 'replica' needs",
            "one with none that answers",
            "connect one, or choose 'server'",
        ),
        "count": Rule(
            "a server that reports the number of replicas, which 'majority' needs",
            "an error (%(why)s)",
            "add the ACL rule +info, or give a URL of Sentinel or a cluster, which count the replicas, or "
            "choose 'server'",
        ),
        "majority": Rule(
            "a server with %(quorum)s connected replicas, which 'majority' needs",
            "one with %(count)s, of which %(confirmations)s answered",
            "connect them, or choose 'server'",
        ),
        "command": Rule(
            _COMMAND, "an error (%(why)s)", "use Valkey, or Redis 7.2 or newer, or choose 'server'"
        ),
        "permission": Rule(
            _COMMAND,
            "one that does not allow it to this user",
            "add the ACL rule that allows %(command)s, or choose 'server'",
        ),
    },
    # the bridge
    "other_window": Rule(
        "%(high)s and refilled at %(low)s, like the bridge that works on queue '%(queue)s' now",
        "another",
        "use the same, or stop that one first",
    ),
    "database_queue": Rule("a queue that the database has rows of", "'%(name)s', of which it has none"),
    # webhooks
    "endpoint_disabled": Rule(
        "an endpoint that is enabled", "a disabled one", "run `leaseq webhook enable %(id)s` first"
    ),
    "replay": {
        "test": Rule("a delivery of an event", "a test", "send another test"),
        "open": Rule("a delivery that was delivered or finally failed", "one that is still tried"),
    },
    "address": {
        "networks": Rule("addresses or networks such as 10.1.2.0/24, separated by spaces", "%(why)s"),
        "url": Rule(
            "http:// or https:// and a host, without a user or a fragment, at most %(maximum)s characters",
            "%(why)s",
        ),
        "private": Rule(
            "a public address",
            "%(address)s of '%(host)s'",
            "to send to it, an operator adds it or its network to %(setting)s",
        ),
        "plain": Rule(
            "https:// for a public address", "http:// for %(address)s of '%(host)s'", "use https://"
        ),
    },
    # the worker
    "handler": {
        "callable": Rule("functions that take a lease", "for '%(queue)s' a %(kind)s"),
        "values": Rule("a function for each value of '%(name)s', which is text", "for '%(queue)s' %(pair)s"),
        "none": Rule("at least one handler for each queue", "none for '%(queue)s'"),
        "by_one": Rule("a queue with a handler for each value", "'%(queue)s', which has one for all items"),
        "by_unused": Rule("a handler for each value: {'mail': {'welcome': f, 'reset': g}}, by='kind'"),
        "by_required": Rule(
            "the field of the payload whose value says which handler of '%(queue)s' an item is for"
        ),
    },
}
