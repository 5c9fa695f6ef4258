"""Messages on the next page that several pages show."""

from __future__ import annotations

from flask import flash
from flask_babel import ngettext


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
