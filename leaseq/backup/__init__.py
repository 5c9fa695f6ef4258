"""Backup and restore of a server: its queues, its people, and everything else that leaseq stores in it.

    with transfer.whole_file(Path("leaseq.backup"), private=True) as stream:
        backup.back_up(client, stream)

    with open("leaseq.backup", "rb") as stream:
        backup.restore(other, stream)

Work can continue during a backup. Each item is written as it is at one moment. Everything streams: memory
does not grow with the number of items.
"""

from leaseq.backup.file import BackupDamaged, Contents, RestoreRefused, verify
from leaseq.backup.server import Restored, back_up, restore
from leaseq.backup.stored_keys import BackupFailed, LeftOut, StoredKeys

__all__ = [
    "BackupDamaged",
    "BackupFailed",
    "Contents",
    "LeftOut",
    "RestoreRefused",
    "Restored",
    "StoredKeys",
    "back_up",
    "restore",
    "verify",
]
