"""Encodes and decodes a policy as stored in the server: ``lease_seconds`` in the queue's status, a line of
rules for the scripts, and the rest as JSON, each in a field of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from leaseq.errors import Invalid, QueueUnreadable
from leaseq.policy import FIELDS, RULES, TEXTS, Policy


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
        raise QueueUnreadable(
            f"this queue's policy has a value of {error.field!r} that this version of leaseq does not know: "
            "it needs a newer version of leaseq"
        ) from None


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
            raise QueueUnreadable(
                f"this queue's policy has {word!r}, which this version of leaseq does not know: it needs a "
                "newer version of leaseq"
            ) from None
    return values


def rule_defaults() -> dict[str, str]:
    """The default of each field that is stored in the rules, in stored form."""
    return {name: FIELDS[name].stored_default for name in RULES}


def text_defaults() -> dict[str, str]:
    """The default of each field that is stored as separate JSON, in the order of `Policy.version`."""
    return {name: FIELDS[name].stored_default for name in TEXTS}
