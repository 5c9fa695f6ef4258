"""Translates an error inside a script into the server's message with the file and line under ``lua/``."""

from __future__ import annotations

import logging

from leaseq.engine.scripts import Script

_log = logging.getLogger("leaseq.engine")


def message_of(error: Exception, script: Script | None) -> str:
    """The text of an error; ``script`` is the one that was run or loaded. If the text names a line of the
    script, the error is inside the script, and is logged: call this once per error."""
    message = str(error)
    if script is None or not (places := script.places(message)):
        return message
    readable_message = script.readable(message)
    # The script stopped at the last place; the message may begin with the line of a function's caller.
    _log.error("script %s failed at %s: %s", script.name, places[-1], readable_message)
    return readable_message
