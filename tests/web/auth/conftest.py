"""An identity provider to sign in with."""

from tests.web.auth.oidc_provider import make_app, provider, running_provider  # noqa: F401
