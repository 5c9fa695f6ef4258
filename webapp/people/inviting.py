"""Invitations: one link for each name, or one for somebody who chooses their name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from leaseq import Invalid
from leaseq.webapp.context import accounts, person
from leaseq.webapp.numbers import whole_number_in
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.store.accounts.invitations import DAYS, MAX_DAYS

MAX_NAMES = 500


class InvitationLink(NamedTuple):
    """A new invitation."""

    name: str  # "": the person chooses it
    token: str


def invite_all(fields: Mapping[str, str]) -> tuple[list[InvitationLink], dict[str, str]]:
    """Invite each name, one per line. Return the links, and the reasons of refusals by name."""
    names = list(dict.fromkeys(filter(None, map(str.strip, fields.get("name", "").splitlines()))))
    links: list[InvitationLink] = []
    errors: dict[str, str] = {}
    try:
        if len(names) > MAX_NAMES:
            raise Invalid("name", f"at most {MAX_NAMES} names at once; these are {len(names)}")
        days = whole_number_in(fields.get("days", str(DAYS)), "days")
        if days is None:
            raise Invalid("days", f"a whole number from 1 to {MAX_DAYS}")
        for name in names or [""]:
            try:
                links.append(InvitationLink(name, _invite(name, fields, days)))
            except Invalid as error:
                errors[name] = in_words(error)
    except Invalid as error:
        errors = dict.fromkeys(names or [""], "") | {names[0] if names else "": in_words(error)}
    return links, errors


def _invite(name: str, fields: Mapping[str, str], days: int) -> str:
    return accounts().invite(
        by=person().name,
        role=fields.get("role", "worker"),
        skills=fields.get("skills", "").split(),
        team=fields.get("team", "").strip(),
        name=name or None,
        days=days,
    )
