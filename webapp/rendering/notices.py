"""Messages on the next page that several pages show."""

from __future__ import annotations

from flask import flash
from flask_babel import ngettext


def flash_unassigned(count: int) -> None:
    """Say how many items are no longer assigned to people who lost their access, if there are any."""
    if count:
        flash(
            ngettext(
                "The %(num)s item that was assigned to them can be taken by anybody now.",
                "The %(num)s items that were assigned to them can be taken by anybody now.",
                count,
            )
        )
