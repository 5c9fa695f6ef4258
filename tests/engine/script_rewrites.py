"""A script with replaced text: a limit that a test can reach, or a time that a server returns."""

from __future__ import annotations

import dataclasses
from hashlib import sha1

import leaseq
from leaseq.engine.keys import Keys
from leaseq.engine.scripts import BoundScript


def rewrite(queue: leaseq.Queue, move: str, old: str, new: str) -> None:
    """Replace text in a script for this queue of this client, from now on."""
    script = queue._commands._scripts[move].script
    assert script.source.count(old) == 1
    source = script.source.replace(old, new)
    new_script = dataclasses.replace(script, source=source, sha=sha1(source.encode()).hexdigest())
    queue._commands._scripts[move] = BoundScript(new_script, Keys(queue.name))
