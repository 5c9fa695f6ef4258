"""The security table: for each row its guards, and the tests that fail without them.

Each guard is a piece of code of the product. The tests that notice its removal are marked with its name:
``@pytest.mark.guard("csrf")``. ``python -m tools.remove_guards`` removes the guards one by one,
in a copy of the tree, and fails if no test fails without one. ``test_guards.py`` checks that this list, the
marks and docs/security.md agree.
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
