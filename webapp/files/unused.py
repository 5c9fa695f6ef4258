"""Files that no answer names: never used in one, or of an item, a queue or an answer that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from leaseq import STATES, Client, Queue
from leaseq.webapp.files.keys import files_in, folder_of
from leaseq.webapp.files.storage import Storage, StoredFile

_PAGE = 500


def unused_files(client: Client, storage: Storage, before: datetime) -> Iterator[StoredFile]:
    """The files that arrived before this time and that nothing needs. All files of an item that is not
    finished are needed: a draft may name them."""
    for name, files in groupby(storage.stored(), lambda file: file.key.partition("/")[0]):
        old_files = [file for file in files if file.at < before]
        unused = {file.key for file in old_files}
        queue = Queue(client, name)
        # Once in each direction: an item that moves to another state meanwhile is met at least once.
        for states in (STATES, STATES[::-1]) if queue.exists() else ():
            for state in states:
                unused -= _used(queue, state, unused)
        yield from (file for file in old_files if file.key in unused)


def _used(queue: Queue, state: str, keys: set[str]) -> set[str]:
    """Those of the keys that the items in a state need."""
    by_folder = {folder: set(group) for folder, group in groupby(sorted(keys), _folder)}
    used: set[str] = set()
    after = None
    while by_folder:
        page = queue.page(state, limit=_PAGE, after=after)  # type: ignore[arg-type]  # one of STATES
        for item in page.items:
            own = by_folder.get(folder_of(queue.name, item.id), set())
            if own and item.state == "finished":
                answers = (*item.answers, *item.late_answers)
                used |= own & {file.key for answer in answers for _name, file in files_in(answer.result)}
            else:
                used |= own
        after = page.after
        if after is None:
            break
    return used


def _folder(key: str) -> str:
    return key.rpartition("/")[0]
