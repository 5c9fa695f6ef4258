"""The view that sets the language of the pages, in a cookie of the browser."""

from __future__ import annotations

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from leaseq import validation
from leaseq.webapp.auth import local_path
from leaseq.webapp.context import state
from leaseq.webapp.i18n import COOKIE, LANGUAGES

bp = Blueprint("language", __name__)
_YEAR_SECONDS = 365 * 86_400


@bp.post("/language")
def choose() -> Response:
    code = validation.one_of(request.form.get("language"), tuple(LANGUAGES), "language")
    response = redirect(local_path(request.form.get("next")), 303)
    secure = state().settings.secure_cookies
    response.set_cookie(COOKIE, code, max_age=_YEAR_SECONDS, secure=secure, httponly=True, samesite="Lax")
    return response
