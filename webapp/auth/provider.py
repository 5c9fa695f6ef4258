"""Sign-in through an identity provider: OpenID Connect, the code flow with PKCE, state and nonce."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from flask import current_app, redirect, render_template, request, session, url_for
from flask_babel import gettext as _
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from leaseq import Invalid
from leaseq.webapp.auth.login import login_page
from leaseq.webapp.auth.session import (
    SignInMethod,
    address,
    authenticate_by_password,
    bp,
    continue_sign_in,
    require_step,
    storable_path,
    unfinished_sign_in,
)
from leaseq.webapp.context import accounts, state
from leaseq.webapp.origins import is_confidential
from leaseq.webapp.refusals import in_words
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts.provider import AccountNotLinked

_CLIENT = "leaseq-oidc"
_NEXT = "oidc-next"
_STATE_PREFIX = "_state_"  # of authlib's names for sign-ins
_TABS = 3
_TIMEOUT_SECONDS = 10
_ASK_AGAIN = {"prompt": "login", "max_age": "0"}  # else the provider may accept a sign-in of hours ago


def make_client(settings: Settings) -> Any:
    """authlib's client; imported only if a provider is set."""
    from authlib.integrations.flask_client import OAuth  # noqa: PLC0415

    issuer = str(settings.oidc_issuer).rstrip("/")
    secret = settings.oidc_client_secret
    return OAuth(current_app).register(
        "oidc",
        client_id=settings.oidc_client_id,
        client_secret=secret.get_secret_value() if secret else None,
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid profile email",
            "code_challenge_method": "S256",
            "default_timeout": _TIMEOUT_SECONDS,
        },
    )


def _client() -> Any:
    settings = state().settings
    if not settings.oidc_issuer:
        raise NotFound
    client = current_app.extensions.get(_CLIENT)
    if client is None:
        client = current_app.extensions[_CLIENT] = make_client(settings)
    return client


@bp.get("/login/provider")
def provider() -> Response:
    """Redirect to the provider. A link and not a form, since the Content-Security-Policy forbids forms that
    lead to another host."""
    client = _client()
    _forget_old_sign_ins()
    with _provider_errors():
        _metadata(client)
        callback_url = url_for("auth.provider_callback", _external=True)
        response: Response = client.authorize_redirect(
            callback_url, **(_ASK_AGAIN if request.args.get("again") else {})
        )
    session[_NEXT] = storable_path(request.args.get("next", ""))
    return response


def _forget_old_sign_ins() -> None:
    """Keep only the latest few of this browser's unfinished sign-ins, for its tabs: authlib keeps each in the
    session's cookie, which a browser drops above 4 KB."""
    names = [name for name in session if name.startswith(_STATE_PREFIX)]
    for name in sorted(names, key=lambda name: session[name].get("exp", 0))[:-_TABS]:
        session.pop(name)


@bp.get("/login/provider/back")
def provider_callback() -> Response | tuple[str, int]:
    client = _client()
    target = str(session.get(_NEXT, ""))
    with _provider_errors():
        claims = _claims(client)
    settings = state().settings
    subject = f"{claims['iss']} {claims['sub']}"
    method = SignInMethod("identity provider", target, proved_at=_proved_at(claims))
    name = ""
    try:
        name = _name_in(claims, str(settings.oidc_claim))
        account = accounts().authenticate_by_provider(name, subject, create=settings.oidc_create)
    except Invalid as error:
        if isinstance(error, AccountNotLinked) and error.person.has_password:
            return require_step("password", error.person, replace(method, subject=subject))
        accounts().sign_ins.log_failure(name, method.how, address())
        return login_page(target, error=in_words(error)), 403
    return continue_sign_in(account, method)


@bp.route("/login/provider/link", methods=["GET", "POST"])
def link_provider() -> str | Response | tuple[str, int]:
    """Link an account that has a password to the provider's person: its owner must enter the password,
    once."""
    sign_in = unfinished_sign_in("password")
    if sign_in is None:
        return redirect(url_for("auth.login"), 303)
    method, account = sign_in
    if request.method == "GET":
        return render_template("auth/link_provider.html", name=account.name, error=None)
    how = "password after the identity provider"
    if authenticate_by_password(account.name, how) is None:
        error = _("That is not the leaseq password of %(name)s.", name=account.name)
        return render_template("auth/link_provider.html", name=account.name, error=error), 401
    return continue_sign_in(account, replace(method, how="identity provider, password", proved_at=None))


def _metadata(client: Any) -> None:
    """Load the provider's metadata, and check that its issuer is the one that is set."""
    issuer = str(state().settings.oidc_issuer)
    metadata: dict[str, Any] = client.load_server_metadata()
    if str(metadata.get("issuer", "")).rstrip("/") != issuer.rstrip("/"):
        raise _problem(_("Its issuer is %(name)s.", name=metadata.get("issuer")))
    for endpoint in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        if not is_confidential(str(metadata.get(endpoint))):
            raise _problem(_("Its %(name)s is not an https address.", name=endpoint))


def _claims(client: Any) -> dict[str, Any]:
    """The verified claims of the ID token: authlib checks its signature, audience, nonce, and the issuer
    of the metadata."""
    _metadata(client)
    claims = client.authorize_access_token().get("userinfo")
    if not claims:
        raise _problem(_("It sent no ID token."))
    return dict(claims)


def _proved_at(claims: dict[str, Any]) -> float:
    """The time when the person authenticated at the provider, which may have been earlier; now if it doesn't
    tell."""
    auth_time, now = claims.get("auth_time"), time.time()
    return min(float(auth_time), now) if isinstance(auth_time, int) else now


def _name_in(claims: dict[str, Any], claim: str) -> str:
    name = claims.get(claim)
    if not isinstance(name, str) or not name:
        raise Invalid("claim", "sign_in", what="claim", claim=claim)
    if claim == "email" and claims.get("email_verified") is not True:
        raise Invalid("claim", "sign_in", what="unverified")
    return name


def _problem(reason: str) -> Problem:
    return Problem.of(502, "provider", "provider", why=reason)


@contextmanager
def _provider_errors() -> Iterator[None]:
    """Turn errors of the exchange with the provider into an error page."""
    from authlib.common.errors import AuthlibBaseError  # noqa: PLC0415
    from joserfc.errors import JoseError  # noqa: PLC0415
    from requests import RequestException  # noqa: PLC0415

    try:
        yield
    except RequestException as error:
        raise _problem(_("Its answer was not valid.")) from error
    except (AuthlibBaseError, JoseError, ValueError, KeyError) as error:
        current_app.logger.warning("sign-in by the provider: %s", error)
        raise _problem(_("It said: %(error)s.", error=str(error).strip() or type(error).__name__)) from error
