"""The security table: for each row what guards it, and the tests that fail when the guard is gone.

The product carries the marks (``# guard: name``). ``python -m tests.meta.guards.remove_guards`` takes the
guards out one by one, in a copy of the tree, and fails where no test noticed. ``test_guards.py`` keeps this
list, the marks and docs/security.md true to each other.
"""

from tests.meta.guards import access, browser, content, data, deployment, people, sessions, sign_in
from tests.meta.guards.guard import Guard

__all__ = ["GUARDS", "Guard"]

GUARDS: tuple[Guard, ...] = (
    *access.GUARDS,
    *browser.GUARDS,
    *sessions.GUARDS,
    *sign_in.GUARDS,
    *people.GUARDS,
    *content.GUARDS,
    *data.GUARDS,
    *deployment.GUARDS,
)
