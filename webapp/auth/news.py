"""Security notices at sign-in: what happened to the account since the last one."""

from __future__ import annotations

from flask_babel import gettext as _
from flask_babel import ngettext

from leaseq.webapp.rendering.filters import clock
from leaseq.webapp.store.accounts.sign_ins import AccountChange, SignInNotices


def lines(news: SignInNotices) -> list[str]:
    texts = [_("%(when)s: %(what)s", when=clock(one.at), what=_in_words(one)) for one in news.changes]
    if news.failed:
        failed = ngettext(
            "%(num)s sign-in with your name failed since you last signed in.",
            "%(num)s sign-ins with your name failed since you last signed in.",
            news.failed,
        )
        texts.append(f"{failed} {_('If that was not you, change your password and tell an admin.')}")
    return texts


def _in_words(change: AccountChange) -> str:
    by = change.by
    said = {
        "token.made": _(
            "%(by)s created an API token that acts as you (%(detail)s).", by=by, detail=change.detail
        ),
        "token.rotated": _(
            "%(by)s replaced an API token that acts as you (%(detail)s).", by=by, detail=change.detail
        ),
        "sign-in.factor-on": _("%(by)s turned on your two-factor sign-in.", by=by),
        "sign-in.factor-off": _("%(by)s turned off your two-factor sign-in.", by=by),
        "sign-in.provider-tied": _("Your account was linked to the identity provider."),
    }
    return str(said.get(change.what) or _("%(by)s set your password.", by=by))
