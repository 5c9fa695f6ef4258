"""People, their roles and skills, password and token hashes, and the managers' log.

They are in the same server as the queues, under separate keys that only this package uses.
"""

from leaseq.webapp.store.accounts.accounts import Accounts
from leaseq.webapp.store.accounts.passwords import Passwords

__all__ = ["Accounts", "Passwords"]
