"""``./dev lua VERB``: a script as it is sent to the server, with file and line in the margin."""

from __future__ import annotations

import os
import signal
import sys

from leaseq.engine.scripts import SCRIPTS, Script

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


def main(words: list[str]) -> int:
    if len(words) != 1 or words[0] not in SCRIPTS:
        problem = f"there is no script {' '.join(words)!r}" if words else "name a script"
        print(f"{problem}; the scripts are: {', '.join(sorted(SCRIPTS))}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader such as `head` may close the pipe early
    in_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    print("\n".join(_listing(SCRIPTS[words[0]], in_colour)))
    return 0


def _listing(script: Script, in_colour: bool) -> list[str]:
    lines = script.source.removesuffix("\n").split("\n")
    places = [script.where(number) for number in range(1, len(lines) + 1)]
    width = max(map(len, places))
    before, after = (_DIM, _PLAIN) if in_colour else ("", "")
    return [
        f"{before}{place:<{width}}{after}  {line}".rstrip() for place, line in zip(places, lines, strict=True)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
