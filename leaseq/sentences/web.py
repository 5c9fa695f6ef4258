"""Rules of REST and pages: requests, what is not there or not allowed, people and their access."""

from __future__ import annotations

from typing import Final

from leaseq.sentences.rule import Rule

_ACCOUNT = "somebody with an account that is not disabled"

# What a page asks for, in a whole sentence.
PAGES: Final = {
    "ambiguous": "Type %(first)s or %(second)s: it can mean both.",
    "choice": "Choose one of these.",
    "several_choices": "This can mean several: %(options)s. Type one in full.",
    "ranking": "Put a different option in each place.",
    "skipped_clock": "%(zone)s has no %(time)s on %(day)s: its clocks are put forward. Type a later time.",
    "no_file": "Choose a file first.",
    "unchecked_file": "Check the whole file first.",
    "no_rows": "The file has no rows.",
    "no_good_rows": "No row can be imported.",
    "bad_row": "%(why)s",
    "empty_item": "Fill in at least one field of the item.",
    "no_fields": "There are no items, or they have no fields.",
    "unconfirmed_trial": "Confirm that the simulated answers are kept in this queue.",
    "one_simulation": "Simulated people are working already: stop them first.",
}

SIGN_IN: Final = {
    "disabled": "Your account is disabled. Ask an admin to enable it.",
    "no_account": "The identity provider says that you are %(name)s, and there is no account of that name. "
    "Ask an admin to invite you.",
    "unlinked": "There is an account %(name)s here, which the identity provider alone does not open. Ask an "
    "admin to let it.",
    "other_subject": "The name %(name)s belonged to somebody else at the identity provider. Ask an admin.",
    "claim": "The identity provider did not send your %(claim)s. Ask an admin.",
    "unverified": "The identity provider has not verified your address.",
    "used_link": "this link was used already or has expired",
    "has_admin": "there is already an admin: sign in",
    "no_invitation": "That invitation was used, revoked, or has expired.",
    "current_password": "That is not your current password.",
    "same_password": "The two passwords are different. Type the same password twice.",
    "again": "Please sign in again first.",
    "late_code": "That took more than 15 minutes. Start again.",
    "wrong_code": "That is not the current code. Wait for the next one, and check that your device's clock "
    "is right.",
}

FILES: Final = {
    "nowhere": "This site keeps no files: ask an admin to set LEASEQ_FILES.",
    "question": "The form has no question for files that is called '%(name)s'.",
    "empty": "%(name)s is empty: choose another file.",
    "bytes": "%(name)s is too large: at most %(maximum)s bytes.",
    "kind": "%(name)s is not of a kind that is asked for: %(choices)s.",
    "many": "This item has %(maximum)s files already: no more can be sent.",
    "unsent": "%(name)s is not sent yet: press Upload first.",
    "unknown": "%(name)s is not a file that you sent for this question of this item: send it again.",
    "missing": "%(name)s has not arrived: send it again.",
    "incomplete": "The file does not have the %(maximum)s bytes that were announced: send it again.",
    "expired": "This is too late, or for another file: announce the file again.",
}

NOT_FOUND: Final = {
    "file": "item '%(id)s' has no such file that you may see",
    "item": "queue '%(queue)s' has no item '%(id)s': it was never there, or was removed",
    "lease": "you never had a lease of item '%(id)s' in queue '%(queue)s': reserve to get one",
    "queue": "there is no queue '%(name)s'",
    "queue_or_access": "there is no queue '%(name)s', or you have no access to it",
    "announcement": "queue '%(name)s' has no announcement",
    "deleted_queue": "there is no queue '%(name)s': it was deleted, with its items",
    "misspelt_queue": "there is no queue '%(name)s'; did you mean %(near)s?",
    "person": "there is no person named '%(name)s'",
    "team": "nobody is in a team '%(name)s'",
    "token": "there is no token '%(id)s'",
    "page": "there is nothing at this address: it may be mistyped, or what it named was removed",
    "endpoint": "there is no webhook endpoint '%(id)s': `leaseq webhook list` shows them",
    "revoked_token": "the token has been revoked",
    "revoked_invitation": "the invitation has been revoked",
    "invitation": "there is no open invitation '%(id)s'",
    "import": "There is no such import, or it is more than a week old.",
    "cursor": "after: expected a cursor of this list, got one of another: start again without it",
    "queue_of_tag": "there is no queue '%(name)s' for If-Match: a PUT without it creates one",
}

FORBIDDEN: Final = {
    "all_queues": "this concerns all queues, and you may not manage some of them: ask an admin",
    "queue": "you may not manage the queue '%(queue)s': ask somebody who may, or an admin",
    "held_only": "a worker may read an item only while they hold it; other items require the role manager",
    "people_events": "events about people require the role admin; leave out person.*",
    "lost": "you may not have this any more: your account, token or access has changed",
    "read_only": "this token may only read: use one with another scope",
    "scope": "the scope of this token, %(scope)s, does not cover the scope %(other)s",
    "scopes": "this call requires a token of the scope %(scopes)s; the scope of this one is %(scope)s",
    "other_queue": "this token is for the queue '%(queue)s' only: use one that is for all queues",
    "whole_token": "expected a token with all rights of its person, got one that is limited to a scope or a "
    "queue: use one that was created without both",
    "later_token": "a token can't get the secret of one that expires later",
    "others_tokens": "this requires the role admin; without it, you may use only your own tokens",
    "needs_token": "this requires a token: with a session, use the page of your account, which asks for the "
    "password",
    "managers_only": "only managers can open this page",
    "admins_only": "only admins can open this page",
    "route": "this route declares no role",
}

UNAUTHORIZED: Final = {
    "nobody": "send a token as `Authorization: Bearer ...`, or sign in",
    "header": "the Authorization header has no token: send `Authorization: Bearer <token>`",
    "token": "this token is not valid: it is mistyped, was revoked, has expired, or its person is disabled",
    "while_waiting": "your account was disabled, or the token revoked, while this request waited for an item",
    "signed_out": "you are signed out, and nothing was done",
}

TOO_MANY: Final = {
    "any": "too many requests: wait, then try again",
    "requests": "your tokens may together send %(limit)s: wait %(seconds)s s",
    "open": "you have %(maximum)s %(kind)s open, as many as one person may have: close one",
    "sign_ins": "Too many sign-ins failed. Wait a few minutes and try again.",
    "codes": "Too many codes were wrong. Try again in %(wait)s.",
}

UNAVAILABLE: Final = {
    "server": "the queue server does not answer: try again in a few seconds",
    "overloaded": "the web app is overloaded, and nothing was done: try again in %(seconds)s s",
    "files": "the place where files are kept does not answer, and nothing was changed: try again in a few "
    "seconds",
    "no_room": "there is no room left where files are kept, and nothing was changed: tell an admin",
    "stopping": "this web process is stopping: send no more requests to it",
}

TAKEN: Final = {
    "person": "there is already a person named '%(name)s'",
    "team": "there is already a team '%(name)s'",
    "similar": "'%(name)s' looks like '%(other)s', which is taken: choose a name that differs more",
    "invited": "'%(name)s' is already invited: revoke that invitation first",
    "erasure": "a person named '%(name)s' is being erased: finish that first",
    "queue": "there is already a queue '%(name)s'; it was not changed",
}

RULES: Final[dict[str, Rule | dict[str, Rule]]] = {
    "page": {what: Rule(sentence=text) for what, text in PAGES.items()},
    "file": {what: Rule(sentence=text) for what, text in FILES.items()},
    "sign_in": {what: Rule(sentence=text) for what, text in SIGN_IN.items()},
    "not_found": {what: Rule(sentence=text) for what, text in NOT_FOUND.items()},
    "taken": {what: Rule(sentence=text) for what, text in TAKEN.items()},
    "forbidden": {what: Rule(sentence=text) for what, text in FORBIDDEN.items()},
    "unauthorized": {what: Rule(sentence=text) for what, text in UNAUTHORIZED.items()},
    "too_many": {what: Rule(sentence=text) for what, text in TOO_MANY.items()},
    "unavailable": {what: Rule(sentence=text) for what, text in UNAVAILABLE.items()},
    # requests
    "one_value": Rule("one value", "%(count)s in the query"),
    "request": Rule("%(why)s", ""),
    "http_error": Rule(sentence="%(why)s"),
    "content_encoding": Rule(sentence="Content-Encoding: expected %(accepted)s, got %(encoding)s"),
    "method": Rule(sentence="this path allows %(methods)s, not %(method)s"),
    "http": Rule("valid HTTP/1.1", "an error (%(why)s)"),
    "host": Rule("a host in LEASEQ_ALLOWED_HOSTS", "another"),
    "key": {
        "reused": Rule(
            sentence="%(header)s: this key was used for another body. Send that body again, or use a new key"
        ),
        "in_progress": Rule(
            sentence="%(header)s: the first request with this key is still being processed: send it again "
            "in 1 s"
        ),
        "not_kept": Rule(
            sentence="%(header)s: the first request with this key succeeded, with status %(status)s. Its "
            "answer was not kept, because it was too large or contains a secret: read what it changed"
        ),
    },
    "bad_line": Rule(
        sentence="line %(line)s: %(why)s. The lines before it were added, this line and those after it were "
        "not"
    ),
    "item_finished": Rule(
        sentence="item '%(id)s' of queue '%(queue)s' has an answer (%(count)s in all), and was not removed"
    ),
    "policy_changed": Rule(
        sentence="the policy of queue '%(name)s' was changed in the meantime: check the current policy, "
        "then save again"
    ),
    "policy_not_matched": Rule(
        sentence="the policy of queue '%(queue)s' is not the one that If-Match names, and nothing changed: "
        "GET the queue, and send the ETag that it has now"
    ),
    "role": Rule(sentence="this requires the role %(needed)s; yours is %(yours)s: ask an admin"),
    "csrf": Rule(sentence="%(why)s Reload the page; a program sends the token in the header X-CSRFToken"),
    "unfinished_erasure": Rule(
        sentence="the erasure of '%(name)s' is not finished: a newer version of leaseq wrote %(queues)s. "
        "Finish it with that version, with the same call"
    ),
    "provider": Rule(
        sentence="Signing in through the identity provider failed. %(why)s Try again, or tell an admin."
    ),
    "accept": Rule(sentence="this call returns %(kinds)s, which the Accept header does not accept"),
    "media_type": Rule(sentence="send the body as one of %(kinds)s"),
    "conflict": {
        "item": Rule(
            sentence="there is already an item with the id '%(id)s' and a different payload, and nothing was "
            "changed. Use another id for a new item; to replace the existing item, remove it first"
        ),
        "items": Rule(
            sentence="%(count)s of %(total)s items were not added: there are already items with their ids "
            "and different payloads: %(ids)s. All others were added"
        ),
    },
    "internal": Rule(sentence="the error was logged; the request may or may not have taken effect"),
    "import_done": Rule("a new file", "one that was already imported"),
    # people and access
    "only_admin": Rule(
        sentence="'%(name)s' is the only admin who can sign in: make somebody else admin first"
    ),
    "account": {
        "unknown": Rule(_ACCOUNT, "'%(name)s', who has no account"),
        "disabled": Rule(_ACCOUNT, "'%(name)s', who is disabled"),
        "token": Rule(
            _ACCOUNT,
            "'%(name)s', who is disabled, so that their token would not work",
            "enable them on the page People",
        ),
    },
    "password": {
        "name": Rule(sentence="that password contains the name, which is easy to guess"),
        "common": Rule(
            sentence="that password is a common one, which is easy to guess: use a few words in a row instead"
        ),
    },
    "access": {
        "none": Rule(sentence="'%(name)s' has no access to this queue"),
        "own": Rule(sentence="'%(name)s' is in none of these groups, and could not change it back"),
        "open": Rule("a queue that only some may work on", "'%(queue)s', on which everybody may work"),
    },
    "no_people": Rule("at least one person", "none", "select them in the list"),
    "yourself": Rule("anybody but yourself", "", "you would be signed out"),
    "compared_number": Rule("a number after %(comparison)s"),
    "reserved_name": Rule("another name", "'%(name)s', which has the deliveries of webhooks"),
    "answers_misfit": Rule("an answer that fits the form"),
}
