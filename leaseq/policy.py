"""A queue's policy: validated here, kept in the server, read by the scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from hashlib import sha1
from typing import Any, Literal

from leaseq import validation
from leaseq.errors import Invalid, LeaseqError
from leaseq.models import Json

MAX_MARKDOWN = 65_536
MAX_TITLE = 200
MAX_KEPT = 315_360_000  # ten years, in seconds
Durable = Literal["server", "fsync", "replica", "majority"]
DURABLE: tuple[Durable, ...] = ("server", "fsync", "replica", "majority")


@dataclass(frozen=True, slots=True)
class Policy:
    """How a queue hands out its items. Every field has a default; an update names only what changes."""

    lease_seconds: float = 300  # how long a person may hold an item, 0.1 to 604,800
    max_attempts: int = 3  # expiries and fails until an item is dead, 1 to 1,000
    retry_seconds: float = 2  # the wait after the first fail; doubled for each one after it
    retry_max_seconds: float = 3600  # the longest such wait
    holds: int = 1  # leases that one person may have at once, 1 to 100
    bands: tuple[int, int] = (50, 150)  # priorities up to the first are high, past the second low
    renewals: int | None = None  # how often one lease may be renewed; None: no limit
    share_drafts: bool = False  # show a draft to the next person
    answers: int = 1  # how many people are to answer each item, 1 to 100
    max_abandons: int | None = None  # that many people gave an item back: it is dead; None: no limit
    dedupe_seconds: float = 0  # an equal payload within this window is a duplicate, whatever its id
    keep_finished_seconds: float | None = None  # how long a finished item is kept; None: for good
    durable: Durable = "server"  # what an acknowledgement waits for; see docs/operator.md
    form: Json = None  # how to show a payload and what to ask: {"show", "ask", "keys"}
    title: str = ""
    instructions: str = ""  # Markdown

    def __post_init__(self) -> None:
        seconds = validation.number(self.lease_seconds, "lease_seconds", 0.1, 604_800)
        object.__setattr__(self, "lease_seconds", round(seconds, 6))  # the server counts microseconds
        validation.integer(self.max_attempts, "max_attempts", 1, 1_000)
        validation.number(self.retry_seconds, "retry_seconds", 0, 604_800)
        validation.number(self.retry_max_seconds, "retry_max_seconds", 0, 604_800)
        validation.integer(self.holds, "holds", 1, 100)
        object.__setattr__(self, "bands", _bands(self.bands))
        if self.renewals is not None:
            validation.integer(self.renewals, "renewals", 0, 1_000_000)
        if not isinstance(self.share_drafts, bool):
            raise Invalid("share_drafts", "true or false")
        validation.integer(self.answers, "answers", 1, 100)
        if self.max_abandons is not None:
            validation.integer(self.max_abandons, "max_abandons", 1, 1_000)
        validation.number(self.dedupe_seconds, "dedupe_seconds", 0, MAX_KEPT)
        if self.keep_finished_seconds is not None:
            validation.number(self.keep_finished_seconds, "keep_finished_seconds", 0, MAX_KEPT)
        if self.durable not in DURABLE:
            raise Invalid("durable", "one of " + ", ".join(DURABLE))
        validation.text(self.title, "title", MAX_TITLE)
        validation.text(self.instructions, "instructions", MAX_MARKDOWN)

    def updated(self, changes: Mapping[str, Any]) -> Policy:
        """This policy with some fields changed, or Invalid."""
        unknown = sorted(set(changes) - FIELDS)
        if unknown:
            raise Invalid(unknown[0], _no_field(unknown[0]))
        if "title" in changes:  # here, so that one that was set before this rule is still read
            changes = {**changes, "title": validation.label(changes["title"], "title", MAX_TITLE)}
        return replace(self, **changes)

    @property
    def version(self) -> str:
        """A short name for exactly these settings, which ``configure(expected=…)`` compares."""
        words = to_server(self, FIELDS, "")
        kept = dict(zip(words[::2], words[1::2], strict=True))
        rules = " ".join(kept[str(place)] for place in range(1, len(_PLACES) + 3))
        texts = "\n".join([kept["lease_seconds"], rules, *(kept[name] for name in TEXTS)])
        return sha1(texts.encode(), usedforsecurity=False).hexdigest()


FIELDS = frozenset(f.name for f in fields(Policy))


def _no_field(name: str) -> str:
    known = sorted(FIELDS)
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"no policy field; {f'did you mean {near[0]}?' if near else 'they are ' + ', '.join(known)}"


def _bands(value: object) -> tuple[int, int]:
    limit = "two whole numbers, the first no larger than the second"
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Invalid("bands", limit)
    low, high = (validation.integer(v, "bands", 0, validation.MAX_PRIORITY) for v in value)
    if low > high:
        raise Invalid("bands", limit)
    return low, high


# How the server keeps it: what every move needs as words of the queue's status, most other fields as
# words of the line of rules, at these places, the rest as JSON.
_PLACES = {
    "holds": 1,
    "max_attempts": 2,
    "retry_seconds": 3,
    "retry_max_seconds": 4,
    "renewals": 7,
    "share_drafts": 8,
    "answers": 9,
    "max_abandons": 10,
    "dedupe_seconds": 11,
    "keep_finished_seconds": 12,
}
_LOW_BAND, _HIGH_BAND = 5, 6
_LEASE_SECONDS, _FORM_VERSION = 7, 8  # in the status
TEXTS = ("form", "title", "instructions", "durable")


def to_server(policy: Policy, names: Iterable[str], form_version: str) -> list[str]:
    """Place or name, and value, of each field that is named."""
    found: list[str] = []
    for name in names:
        value = getattr(policy, name)
        if name == "bands":
            found += [str(_LOW_BAND), str(value[0]), str(_HIGH_BAND), str(value[1])]
        elif name == "lease_seconds":
            found += [name, json.dumps(value)]
        elif name in _PLACES:
            found += [str(_PLACES[name]), "-" if value is None else json.dumps(value)]
        else:
            found += [name, json.dumps(value, ensure_ascii=False)]
        if name == "form":
            found += ["form_version", form_version]
    return found


def from_server(status: bytes, rules: bytes, texts: Sequence[bytes]) -> tuple[Policy, str]:
    """The policy and its form's version, from the queue's status, its rules and the JSON of TEXTS."""
    now = status.decode().split(" ")
    words = rules.decode().split(" ")
    values: dict[str, Any] = {
        name: None if words[place - 1] == "-" else json.loads(words[place - 1])
        for name, place in _PLACES.items()
    }
    bands = int(words[_LOW_BAND - 1]), int(words[_HIGH_BAND - 1])
    long: dict[str, Any] = {name: json.loads(text) for name, text in zip(TEXTS, texts, strict=True)}
    lease_seconds = json.loads(now[_LEASE_SECONDS - 1])
    return Policy(lease_seconds=lease_seconds, bands=bands, **values, **long), now[_FORM_VERSION - 1]


class PolicyChanged(LeaseqError):
    """The queue's policy is not the one that was expected, and nothing changed; ``policy`` is in force."""

    def __init__(self, queue: str, policy: Policy) -> None:
        super().__init__(
            f"the policy of queue {queue!r} was changed meanwhile: look at what is in force, then save again"
        )
        self.queue = queue
        self.policy = policy
