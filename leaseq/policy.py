"""A queue's policy: its fields, each described once, its validation, and its stored form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any, Final, Literal, TypedDict

from leaseq.errors import Invalid, LeaseqError, QueueUnreadable
from leaseq.models import Json
from leaseq.names import nearest
from leaseq.policy_fields import (
    Alerts,
    Bands,
    Boolean,
    Form,
    Integer,
    Line,
    Measure,
    OneOf,
    Seconds,
    Text,
    described,
    fields_of,
)
from leaseq.sentences import N_
from leaseq.validation import MAX_PRIORITY

WEEK: Final = 604_800
TEN_YEARS: Final = 315_360_000
Durable = Literal["server", "fsync", "replica", "majority"]
"""What each change waits for: see the policy field ``durable`` in docs/policy.md."""

GROUPS: Final[Mapping[str, str]] = {
    "work": N_("Work"),
    "time": N_("Time"),
    "retries": N_("Retries"),
    "answers": N_("Answers"),
    "keeping": N_("Keeping"),
    "advanced": N_("Advanced"),
}
"""The groups in which the settings page shows the fields, and their titles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules by which a queue hands out its items. Every field has a default; an update names only what
    changes.

    A field contains its bounds and its help. Validation, REST, the command line, the settings page and
    docs/policy.md are made from that, so a new field is added only here.
    """

    title: str = described(
        "", Line(200), "work", N_("Title"), N_("The queue's name, as people see it."), storage="text"
    )
    instructions: str = described(
        "",
        Text(65_536),
        "work",
        N_("Instructions"),
        N_("Instructions in Markdown, available next to each item."),
        storage="text",
    )
    form: Json = described(
        None,
        Form(),
        "work",
        N_("Form"),
        N_("What to show, what to ask (a JSON Schema), which keys select what, and what is prefilled."),
        none=N_("a table and one text box"),
        storage="text",
    )
    lease_seconds: float = described(
        300,
        Seconds(0.1, WEEK),
        "time",
        N_("Time for one item"),
        N_("How long a person may hold an item. After that, somebody else can get it."),
        storage="status",
    )
    renewals: int | None = described(
        None,
        Integer(0, 1_000_000, N_("times")),
        "time",
        N_("More time"),
        N_("How often a person may extend the time for one item (renew its lease)."),
        none=N_("no limit"),
    )
    holds: int = described(
        1,
        Integer(1, 100, N_("items")),
        "time",
        N_("Items at once"),
        N_("How many items one person may hold at once."),
    )
    bands: tuple[int, int] = described(
        (50, 150),
        Bands(0, MAX_PRIORITY),
        "advanced",
        N_("Priorities"),
        N_("Two numbers: priorities up to the first are high, above the second low."),
    )
    max_attempts: int = described(
        3,
        Integer(1, 1_000, N_("times")),
        "retries",
        N_("Attempts"),
        N_("After this many expired leases and reported problems, an item has failed."),
    )
    max_abandons: int | None = described(
        None,
        Integer(1, 1_000, N_("people")),
        "retries",
        N_("Fail after … people gave it back"),
        N_("An item fails after this many people gave it back."),
        none=N_("no limit"),
    )
    retry_seconds: float = described(
        2,
        Seconds(0, WEEK),
        "retries",
        N_("Delay after a problem"),
        N_("How long an item waits after a reported problem. Doubled each time."),
    )
    retry_max_seconds: float = described(
        3600,
        Seconds(0, WEEK),
        "retries",
        N_("Longest delay"),
        N_("The delay after a problem is not doubled beyond this."),
    )
    share_drafts: bool = described(
        False,
        Boolean(),
        "retries",
        N_("Share drafts"),
        N_("Show what one person typed to the next person who gets the item."),
    )
    answers: int = described(
        1,
        Integer(1, 100, N_("people")),
        "answers",
        N_("People per item"),
        N_("How many different people answer each item. Applies to items given out from now on."),
    )
    keep_finished_seconds: float | None = described(
        None,
        Seconds(0, TEN_YEARS),
        "keeping",
        N_("Keep finished items"),
        N_("After this time finished items are deleted, with their answers: export first."),
        none=N_("they are kept"),
    )
    keep_finished_count: int | None = described(
        None,
        Integer(0, 1_000_000_000, N_("items")),
        "keeping",
        N_("Finished items kept"),
        N_("At most this many are kept. The oldest are deleted, with their answers: export first."),
        none=N_("all of them"),
    )
    keep_dead_seconds: float | None = described(
        None,
        Seconds(0, TEN_YEARS),
        "keeping",
        N_("Keep failed items"),
        N_("After this time failed items are deleted."),
        none=N_("they are kept"),
    )
    dedupe_seconds: float = described(
        0,
        Seconds(0, TEN_YEARS),
        "keeping",
        N_("Same content"),
        N_(
            "An item with the same content as one added within this time is not added. 0: it is always added."
        ),
    )
    durable: Durable = described(
        "server",
        OneOf(
            {
                "server": N_("accepted by the server"),
                "fsync": N_("stored on the server's disk"),
                "replica": N_("copied to another server"),
                "majority": N_("copied to more than half of the other servers"),
            }
        ),
        "advanced",
        N_("Durability"),
        N_("What each change waits for before it counts as saved."),
        storage="text",
    )
    alerts: tuple[str, ...] = described(
        (),
        Alerts(
            {
                "waiting": Measure(N_("Items that wait"), "items that wait", is_time=False),
                "oldest": Measure(
                    N_("Wait of the oldest item"), "seconds for which the oldest item has waited"
                ),
                "question": Measure(
                    N_("Wait of the oldest question"), "seconds for which an open question has waited"
                ),
                "dead": Measure(N_("Time since an item failed"), "seconds since an item failed"),
                "idle": Measure(
                    N_("Items wait and nobody works"),
                    "seconds for which items waited and nobody held one, except in a pause",
                ),
                "unreachable": Measure(
                    N_("Items that nobody may have"), "waiting items that nobody may have", is_time=False
                ),
                "bridge": Measure(N_("Delay of the SQL bridge"), "seconds by which the SQL bridge is behind"),
                "webhooks": Measure(N_("Delay of the webhooks"), "seconds by which the webhooks are behind"),
            }
        ),
        "advanced",
        N_("Alert rules"),
        N_(
            "An alert is raised when its figure is above the limit, and resolved when it is below four "
            "fifths of the limit."
        ),
        storage="text",
    )

    def __post_init__(self) -> None:
        for name, field in FIELDS.items():
            value = getattr(self, name)
            if value is not field.default:  # a test checks the defaults
                object.__setattr__(self, name, field.check(value))

    def updated(self, changes: Mapping[str, Any], *, other_names: Sequence[str] = ()) -> Policy:
        """This policy with some fields changed. Raises Invalid. ``other_names``: names that an unknown name
        may also be a misspelling of."""
        unknown_names = sorted(set(changes) - set(FIELDS))
        if unknown_names:
            raise Invalid(
                unknown_names[0],
                "one_of",
                choices=sorted(FIELDS),
                value=unknown_names[0],
                near=nearest(unknown_names[0], (*FIELDS, *other_names)),
            )
        return replace(self, **{name: FIELDS[name].check(value, new=True) for name, value in changes.items()})

    @property
    def version(self) -> str:
        """A short digest of exactly these settings, which ``configure(expected=…)`` compares."""
        stored = {name: field.dump(getattr(self, name)) for name, field in FIELDS.items()}
        words = {name: stored[name] for name in sorted(RULES) if stored[name] != FIELDS[name].stored_default}
        rules = " ".join(f"{name}={word}" for name, word in words.items())
        text = "\n".join([stored["lease_seconds"], rules, *(stored[name] for name in TEXTS)])
        return sha1(text.encode(), usedforsecurity=False).hexdigest()


FIELDS: Final = fields_of(Policy)
"""Every field by its name, in the order in which they are shown."""

RULES: Final = tuple(name for name, field in FIELDS.items() if field.storage == "rule")
TEXTS: Final = tuple(name for name, field in FIELDS.items() if field.storage == "text")


def to_server(policy: Policy, names: Iterable[str], form_version: str) -> list[str]:
    """The name and stored value of each of these fields."""
    fields: list[str] = []
    for name in names:
        fields += [name, FIELDS[name].dump(getattr(policy, name))]
        if name == "form":
            fields += ["form_version", form_version]
    return fields


def from_server(lease_seconds: bytes, rules: bytes, texts: Sequence[bytes | None]) -> Policy:
    """Decode the policy from the queue's lease_seconds, its rules and the JSON of TEXTS.

    If the queue is older than a field, its text is missing, and the default is used. A value that this
    version does not know was written by a newer one, and raises QueueUnreadable.
    """
    texts_by_name = {name: text.decode() for name, text in zip(TEXTS, texts, strict=True) if text is not None}
    texts_by_name["lease_seconds"] = lease_seconds.decode()
    values = {name: FIELDS[name].load(text) for name, text in texts_by_name.items()}
    try:
        return Policy(**values, **parse_rules(rules))
    except Invalid as error:
        raise QueueUnreadable("newer", what="value", name=error.field) from None


def parse_rules(line: bytes) -> dict[str, Any]:
    """Decode a line of rules, ``holds=2 bands=50,150 renewals=-``, into values by name.

    An unknown rule was written by a newer version, and raises QueueUnreadable: this version can't follow it.
    """
    values: dict[str, Any] = {}
    for word in line.decode(errors="replace").split():
        name, _, text = word.partition("=")
        try:
            if name not in RULES:
                raise ValueError(name)
            values[name] = FIELDS[name].check(FIELDS[name].load(text))
        except (ValueError, Invalid):
            raise QueueUnreadable("newer", what="rule", name=word) from None
    return values


def rule_defaults() -> dict[str, str]:
    """The default of each field that is stored in the rules, in stored form."""
    return {name: FIELDS[name].stored_default for name in RULES}


def text_defaults() -> dict[str, str]:
    """The default of each field that is stored as separate JSON, in the order of `Policy.version`."""
    return {name: FIELDS[name].stored_default for name in TEXTS}


class PolicyChanges(TypedDict, total=False):
    """The keyword arguments of ``configure``: any fields of Policy. A test compares the two."""

    lease_seconds: float
    max_attempts: int
    retry_seconds: float
    retry_max_seconds: float
    holds: int
    bands: tuple[int, int] | list[int]
    renewals: int | None
    share_drafts: bool
    answers: int
    max_abandons: int | None
    dedupe_seconds: float
    keep_finished_seconds: float | None
    keep_finished_count: int | None
    keep_dead_seconds: float | None
    durable: Durable
    alerts: tuple[str, ...] | list[str]
    form: Json
    title: str
    instructions: str


class PolicyChanged(LeaseqError):
    """The queue's policy is not the expected one, and nothing changed. ``policy`` is the current one."""

    def __init__(self, queue: str, policy: Policy) -> None:
        self.tell("policy_changed", name=queue)
        self.queue = queue
        self.policy = policy
