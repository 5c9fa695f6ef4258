"""The prefix of the rate limits' keys. No queue can have this name: it has an '@'."""

from __future__ import annotations

from leaseq.backup import LeftOut

PREFIX = "leaseq:{@limits}"
STORED = (LeftOut(PREFIX + "*", "a limit counts for minutes"),)
