"""The security table: for each row what guards it, and the tests that notice when the guard is gone.

``python -m tests.security.remove_guards`` takes the guards out one by one, in a copy of the tree, and says
which tests noticed. ``test_guards.py`` keeps this list true to the code,
and docs/security.md true to this list.
"""

from tests.security.guards import access, browser, content, data, people, place, sessions, signing_in
from tests.security.guards.guard import Guard

__all__ = ["GUARDS", "Guard"]

GUARDS: tuple[Guard, ...] = (
    *access.GUARDS,
    *browser.GUARDS,
    *sessions.GUARDS,
    *signing_in.GUARDS,
    *people.GUARDS,
    *content.GUARDS,
    *data.GUARDS,
    *place.GUARDS,
)
