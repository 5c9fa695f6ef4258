"""An identity provider, for who signs in by it."""

from tests.web.auth.oidc_provider import make_app, provider, running_provider  # noqa: F401
