"""In which language a page speaks: the person's choice, else what their browser asks for, else English."""

from __future__ import annotations

from typing import Any

from babel import negotiate_locale
from flask import Flask, g, request
from flask_babel import Babel, get_locale, get_translations
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""By code, each in its own words."""

COOKIE = "leaseq-language"


def language() -> str:
    """The code of the language that this request is answered in."""
    locale = get_locale()
    return str(locale) if locale else "en"


def init_i18n(app: Flask) -> None:
    Babel(app, default_locale="en", default_timezone="UTC", locale_selector=_wanted)
    app.jinja_env.globals.update(_=_in_template, gettext=_in_template)
    app.jinja_env.globals["language"] = language
    app.jinja_env.globals["languages"] = LANGUAGES


@pass_context
def _in_template(context: Context, text: str, /, **values: Any) -> str:
    """What ``_`` is in a template. Jinja's own looks up the language for each of a page's fifty texts."""
    said: str = _translations().gettext(text)
    if context.eval_ctx.autoescape:
        said = Markup(said)  # noqa: S704 - our own text; what is put into it is escaped
    return said % values if values or "%" in said else said


def _translations() -> Any:
    """Of this request's language."""
    if "translations" not in g:
        g.translations = get_translations()
    return g.translations


def _wanted() -> str:
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    # by the order of their wishes: de-AT before en is German
    wishes = [tag for tag, _ in request.accept_languages]
    return negotiate_locale(wishes, LANGUAGES, sep="-") or "en"
