"""A person's role in words."""

from __future__ import annotations

from flask_babel import gettext


def role_word(role: str) -> str:
    """The name of a role in the page's language."""
    words = {"worker": gettext("worker"), "manager": gettext("manager"), "admin": gettext("admin")}
    return str(words[role])
