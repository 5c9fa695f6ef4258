"""The app and its people, as the tests of the pages have them; and an identity provider."""

from tests.security.oidc_provider import place, provider, running  # noqa: F401
from tests.web.conftest import (  # noqa: F401
    accounts,
    admin,
    app,
    asking,
    caller,
    manager,
    new_name,
    person,
    server,
    visitor,
    worker,
)
