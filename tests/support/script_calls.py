"""Script calls that a test observes or replaces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from leaseq.engine.commands import Commands


def replace_calls(patch: pytest.MonkeyPatch, script: str, call: Callable[..., Any]) -> None:
    """Replace each call of this script by ``call(run, *arguments)``; ``run(*arguments)`` makes the call."""
    original = Commands.run

    def run(self: Commands, name: str, *arguments: Any) -> Any:
        if name != script:
            return original(self, name, *arguments)
        return call(partial(original, self, name), *arguments)

    patch.setattr(Commands, "run", run)
