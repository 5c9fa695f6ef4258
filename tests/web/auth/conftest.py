"""An identity provider, for who signs in by it."""

from tests.web.auth.oidc_provider import place, provider, running  # noqa: F401
