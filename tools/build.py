"""Writes `leaseq.aio` before hatchling packs or installs leaseq, also in a source distribution, and puts the
guides that pages show into a wheel: hatchling visits a folder once, as `docs`, and skips `leaseq/docs`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools import aio

GUIDES = ("*.md", "how-to/*.md", "images/*")
"""What webapp/docs/guides.py shows."""


class Hook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        aio.write(aio.generate())
        if (
            self.target_name == "wheel" and version == "standard"
        ):  # an editable one has the link `leaseq/docs`
            docs = Path(self.root) / "docs"
            guides = (path for pattern in GUIDES for path in docs.glob(pattern))
            build_data["force_include"] |= {
                str(path): f"leaseq/docs/{path.relative_to(docs)}" for path in guides
            }
