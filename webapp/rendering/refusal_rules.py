"""Rules of fields, and other errors that pages translate, as worded by the library and the stores."""

from __future__ import annotations

from typing import Final

from leaseq.policy_fields import N_

NAMES: Final = {
    "back": N_("Given back by at least"),
    "begins": N_("Id begins with"),
    "days": N_("Days"),
    "due": N_("Due date"),
    "file": N_("File"),
    "find": N_("Search"),
    "from": N_("From"),
    "id": N_("Id"),
    "manage": N_("Who may manage"),
    "message": N_("Message"),
    "name": N_("Name"),
    "order": N_("Order"),
    "password": N_("Password"),
    "payload": N_("Payload"),
    "person": N_("Person"),
    "priority": N_("Priority"),
    "queue": N_("Queue"),
    "reason": N_("Reason"),
    "requires": N_("Skills"),
    "result": N_("Answer"),
    "role": N_("Role"),
    "skill": N_("Skill"),
    "skills": N_("Skills"),
    "team": N_("Team"),
    "text": N_("Text"),
    "to": N_("Up to"),
    "token_name": N_("What is it for?"),
    "work": N_("Who may work"),
}
"""Names of fields, except those of the policy, which has its own labels."""

RULES: Final = (
    N_("1 to %(most)s printable characters"),
    N_("1 to %(most)s characters; this has %(count)s"),
    N_("text of at most %(most)s characters"),
    N_("a whole number from %(least)s to %(most)s"),
    N_("a time before to; this is %(since)s, and to is %(until)s"),
    N_("a number from %(least)s to %(most)s"),
    N_("%(least)s to %(most)s characters of a-z 0-9 . _ -"),
    N_("at most %(most)s skills, each 1 to 64 characters of a-z 0-9 . _ -"),
    N_("a team of at most %(most)s printable characters"),
    N_("at most %(most)s names at once; these are %(count)s"),
    N_("at most %(most)s people; these are %(count)s: use a skill or a team"),
    N_("at most %(most)s teams; these are %(count)s"),
    N_("at least one person, skill or team; or everybody"),
    N_("people who have an account"),
    N_("at least one person: select them in the list"),
    N_("anybody but yourself: you would be signed out"),
    N_("a value in its field"),
    N_("a queue that only some may work on: everybody may work on '%(queue)s'"),
    N_("somebody with an account that is not disabled"),
    N_("no space at its beginning or end"),
    N_("an unused name"),
    N_("your current one"),
    N_("a code within 15 minutes"),
    N_("the six digits that your device shows now"),
    N_("well-formed JSON (%(why)s)"),
    N_("JSON at most %(most)s levels deep"),
    N_("a date and a time in %(zone)s, such as 2026-11-24T17:00"),
    N_("a day such as 2026-11-21, or a time such as 2026-11-21T10:05; both in %(zone)s"),
    N_("a time that exists in %(zone)s: on %(day)s its clocks skip %(time)s, when they are put forward"),
    N_("a time like 2026-11-21T10:05:00Z, or a date"),
    N_("only with outcome abandoned or failed, or without an outcome: only these have a comment"),
    N_("newest or oldest"),
    N_("one of %(values)s"),
    N_("%(least)s to %(most)s characters"),
)
"""Rules without their field. The first match counts, so more specific ones come first."""

SENTENCES: Final = (
    N_("there is already a person named '%(name)s'"),
    N_("'%(name)s' looks like '%(other)s', which is taken: choose a name that differs more"),
    N_("'%(name)s' is already invited: revoke that invitation first"),
    N_("'%(name)s' is the only admin who can sign in: make somebody else admin first"),
    N_("'%(name)s' is in none of these groups, and could not change it back"),
    N_("nobody is named '%(name)s'"),
    N_("'%(name)s' has no access to this queue"),
    N_("that password contains the name, which is easy to guess"),
    N_("that password is a common one, which is easy to guess: use a few words in a row instead"),
    N_("there is no queue '%(name)s', or you have no access to it"),
    N_("there is no queue '%(name)s': it was deleted, with its items"),
    N_("there is no queue '%(name)s'"),
    N_("there is no queue '%(name)s'; did you mean %(near)s?"),
    N_("'%(name)s' has %(most)s API tokens: revoke unused ones first"),
    N_("there is nothing at this address: it may be mistyped, or what it named was removed"),
    N_("queue '%(name)s' has no item '%(id)s': it was never there, or was removed"),
    N_("there is no person named '%(name)s'"),
    N_("this requires the role %(needed)s; yours is %(yours)s: ask an admin"),
    N_(
        "the policy of queue '%(name)s' was changed in the meantime: check the current policy, "
        "then save again"
    ),
    N_("the queue server does not answer: try again in a few seconds"),
    N_("the error was logged; the request may or may not have taken effect"),
    N_("too many requests: wait, then try again"),
    N_("%(why)s Reload the page; a program sends the token in the header X-CSRFToken"),
)
"""Errors without a field."""
