"""Loads functions named as MODULE:FUNCTION, from the current directory or from installed modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from leaseq.cli.common import CommandMisused


def load_function(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    if not module or not name:
        raise CommandMisused(f"{path!r} is not MODULE:FUNCTION")
    directory = str(Path.cwd())
    if directory not in sys.path:  # it stays there: the function may import more when it is called
        sys.path.insert(0, directory)
    try:
        imported_module = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise CommandMisused(f"no module {error.name!r} in the current directory or installed") from None
    except Exception as error:
        raise CommandMisused(f"{module!r} can't be imported: {type(error).__name__}: {error}") from error
    handle = getattr(imported_module, name, None)
    if not callable(handle):
        raise CommandMisused(f"{module!r} has no function {name!r}")
    return cast("Callable[..., Any]", handle)
