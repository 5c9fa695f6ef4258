"""The app and its people, as the tests of the pages have them."""

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
