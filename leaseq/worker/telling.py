"""What a person reads of an error that a program made."""

from __future__ import annotations

from leaseq import strict
from leaseq.errors import Invalid


def told(error: BaseException) -> str:
    """What a person reads of an error: its type and message, and no traceback, which may hold secrets."""
    if isinstance(error, Invalid) and error.errors:
        text = "; ".join(f"{path}: {message}" for path, message in error.errors.items())
        text = f"the result does not fit the queue's form: {text}"
    else:
        try:
            text = f"{type(error).__name__}: {error}"
        except Exception:  # noqa: BLE001 - an error of theirs whose own text can't be made
            text = type(error).__name__
    return text.encode(errors="replace").decode()[: strict.MAX_TEXT]
