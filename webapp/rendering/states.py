"""The names of item states, the same on every page."""

from __future__ import annotations

from flask_babel import gettext as _

import leaseq


def state_word(state: leaseq.State) -> str:
    words: dict[leaseq.State, str] = {
        "inbound": _("waiting"),
        "reserved": _("in work"),
        "scheduled": _("later"),
        "finished": _("done"),
        "dead": _("failed"),
    }
    return words[state]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
