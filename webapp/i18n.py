"""The language of the pages: the person's choice, else the browser's, else English."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from types import CodeType
from typing import Any

from babel import Locale, negotiate_locale
from flask import Flask, g, request
from flask.templating import Environment
from flask_babel import Babel, get_locale, get_translations
from jinja2 import Template, nodes, pass_context
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context
from markupsafe import Markup

from leaseq.webapp.serving.time_slices import end_slice_when_over, join_in_slices

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""Each language's own name, by code."""

COOKIE = "leaseq-language"


def language() -> str:
    """The code of the response's language."""
    if "language" not in g:
        locale = get_locale()
        g.language = str(locale) if locale else "en"
    return str(g.language)


def init_i18n(app: Flask) -> None:
    Babel(app, default_locale="en", default_timezone="UTC", locale_selector=_select_locale)
    app.jinja_env.globals.update(_=_template_gettext, gettext=_template_gettext)
    app.jinja_env.globals["language"] = language
    app.jinja_env.globals["languages"] = LANGUAGES


class Templates(Environment):
    """Flask's environment, with each template compiled once per language. Looking up a page's fifty texts
    at each request took a fifth of its time. A long page is compiled and rendered in time slices."""

    concat = staticmethod(join_in_slices)  # Jinja joins a page's pieces with it

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        end_slice_when_over()
        return super()._parse(source, name, filename)

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        end_slice_when_over()
        return super()._generate(source, name, filename, defer_init)

    def _compile(self, source: str, filename: str) -> CodeType:
        end_slice_when_over()
        return super()._compile(source, filename)

    def get_or_select_template(
        self,
        template_name_or_list: str | Template | list[str | Template],
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> Template:
        if self.overlayed:
            return super().get_or_select_template(template_name_or_list, parent, globals)
        environments: dict[str, Templates] = self.__dict__.setdefault("_environments", {})
        code = language()
        if code not in environments:
            environments[code] = self.overlay(extensions=[_FixedTexts])
        return environments[code].get_or_select_template(template_name_or_list, parent, globals)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return one dict instead of Jinja's chain of two, which is slow to search at each import of macros.
        The app sets its globals before a template is loaded."""
        return {**self.globals, **(d or {})}


class _FixedTexts(Extension):
    """Translates texts without parameters, such as ``_("Sign out")``, when a template is compiled: each
    language has its own compiled templates."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        tokens, place = list(stream), 0
        while place < len(tokens):
            call = tokens[place : place + 4]
            translation = _translations().gettext(call[2].value) if _is_text(call) else "%"
            if "%" in translation:  # has parameters, or is not such a call
                yield tokens[place]
                place += 1
                continue
            _name, opening, text, closing = call
            yield opening
            yield Token(text.lineno, "string", translation)
            yield Token(text.lineno, "pipe", "|")
            yield Token(text.lineno, "name", "safe")  # as in _template_gettext
            yield closing
            place += 4


def _is_text(call: list[Token]) -> bool:
    return [token.type for token in call] == ["name", "lparen", "string", "rparen"] and call[0].value == "_"


@pass_context
def _template_gettext(context: Context, text: str, /, **values: Any) -> str:
    """The ``_`` of a template. Jinja's own looks up the language for each text."""
    translation: str = _translations().gettext(text)
    if context.eval_ctx.autoescape:
        translation = Markup(translation)  # noqa: S704 - our own text; what is put into it is escaped
    return translation % values if values or "%" in translation else translation


def _translations() -> Any:
    """The translations into this request's language."""
    if "translations" not in g:
        g.translations = get_translations()
    return g.translations


def _select_locale() -> Locale:
    code = request.cookies.get(COOKIE)
    if code not in LANGUAGES:
        # in the order of preference: de-AT before en selects German
        wishes = [tag for tag, _ in request.accept_languages]
        code = negotiate_locale(wishes, LANGUAGES, sep="-") or "en"
    return _locale(code)


@lru_cache(len(LANGUAGES))
def _locale(code: str) -> Locale:
    return Locale.parse(code)
