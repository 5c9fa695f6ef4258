"""In which language a page speaks: the person's choice, else what their browser asks for, else English."""

from __future__ import annotations

from flask import Flask, request
from flask_babel import Babel, get_locale

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""By code, each in its own words."""

COOKIE = "leaseq-language"


def language() -> str:
    """The code of the language that this request is answered in."""
    locale = get_locale()
    return str(locale) if locale else "en"


def init_i18n(app: Flask) -> None:
    Babel(app, default_locale="en", default_timezone="UTC", locale_selector=_wanted)
    app.jinja_env.globals["language"] = language
    app.jinja_env.globals["languages"] = LANGUAGES


def _wanted() -> str:
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    return request.accept_languages.best_match(LANGUAGES) or "en"
