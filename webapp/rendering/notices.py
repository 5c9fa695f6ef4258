"""Messages on the next page: security notices at sign-in, about the account since the last one, and those
that several pages show.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import cast

from flask import flash, get_flashed_messages
from flask_babel import gettext as _
from flask_babel import ngettext

from leaseq.webapp.rendering.filters import clock
from leaseq.webapp.store.accounts.sessions import AccountChange, SignInNotices

_CHANGE, _FAILED = "account-change", "failed-sign-ins"  # categories of flashed messages
_DETAIL = 50
"""Characters of a detail, such as a token's name. Browsers silently drop a cookie above 4 KB, and with it the
sign-in and its notices."""


def flash_notices(notices: SignInNotices) -> None:
    """Keep the notices for the next page that shows messages; `flashed_texts` returns them in its
    language."""
    for change in notices.changes:
        detail = change.detail if len(change.detail) <= _DETAIL else f"{change.detail[: _DETAIL - 1]}…"
        record = [change.at.timestamp(), change.what, change.by, detail]
        flash(json.dumps(record, ensure_ascii=False), _CHANGE)
    if notices.failed:
        flash(str(notices.failed), _FAILED)


def flashed_texts() -> list[str]:
    """The flashed messages, as this request's page shows them."""
    messages = cast("list[tuple[str, str]]", get_flashed_messages(with_categories=True))
    return [_render(category, text) for category, text in messages]


def _render(category: str, text: str) -> str:
    if category == _CHANGE:
        at, *fields = json.loads(text)
        change = AccountChange(datetime.fromtimestamp(at, UTC), *fields)
        return str(_("%(when)s: %(what)s", when=clock(change.at), what=_describe(change)))
    if category == _FAILED:
        notice = ngettext(
            "%(num)s sign-in with your name failed since you last signed in.",
            "%(num)s sign-ins with your name failed since you last signed in.",
            int(text),
        )
        return f"{notice} {_('If that was not you, change your password and tell an admin.')}"
    return text


def _describe(change: AccountChange) -> str:
    by = change.by
    texts = {
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
    return str(texts.get(change.what) or _("%(by)s set your password.", by=by))


def flash_unassigned(count: int) -> None:
    """Say how many items are no longer assigned to people who lost their access, if there are any."""
    if count:
        flash(
            ngettext(
                "%(num)s item was assigned to somebody who may not work on it any more:"
                " anybody can take it now.",
                "%(num)s items were assigned to people who may not work on them any more:"
                " anybody can take them now.",
                count,
            )
        )
