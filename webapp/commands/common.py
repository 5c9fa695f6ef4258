"""Helpers that the commands for people and tokens share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaseq import Client
    from leaseq.webapp.store.accounts import Accounts

BY = "the command line"
"""The author of a change, as the log shows it."""


def accounts_of(client: Client) -> Accounts:
    from leaseq.webapp.store.accounts import Accounts

    return Accounts(client)
