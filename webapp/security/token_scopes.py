"""Token scopes: a token allows at most what its person may do, within its scope and its queue."""

from __future__ import annotations

from leaseq.webapp.store.accounts import (
    FULL_SCOPE,
    HIGHEST_ROLE,
    NARROW_SCOPES,
    SCOPES,
    ApiToken,
    Role,
    Scope,
    at_least,
)

_SAFE = ("GET", "HEAD")
_COVERED: dict[Scope, tuple[Scope, ...]] = {
    "read": ("read",),
    "work": ("work",),
    "enqueue": ("enqueue",),
    "manage": ("work", "enqueue", "manage"),
    "admin": ("work", "enqueue", "manage", "admin"),
}
"""The scopes whose calls a scope allows, too."""


def refusal(
    token: ApiToken, need: Role, method: str, queue: str | None, scopes: tuple[Scope, ...] = ()
) -> str | None:
    """Why this token may not make a call that requires the role ``need``; None if it may.

    ``queue`` is the one in the call's path. A token for one queue may not make calls without a queue.
    ``scopes``: the narrow scopes that the call names.
    """
    if token.scope == "read" and method not in _SAFE:
        return "this token may only read: use one with another scope"
    is_named, is_narrow = token.scope in scopes, token.scope in NARROW_SCOPES
    if not (is_named if is_narrow else at_least(HIGHEST_ROLE[token.scope], need)):
        wider_scopes = " or ".join(
            one
            for one in SCOPES
            if one in scopes
            or (one != "read" and one not in NARROW_SCOPES and at_least(HIGHEST_ROLE[one], need))
        )
        return (
            f"this call requires a token of the scope {wider_scopes}; the scope of this one is {token.scope}"
        )
    if token.queue not in (None, queue):
        return f"this token is for the queue {token.queue!r} only: use one that is for all queues"
    return None


def is_whole(token: ApiToken, role: Role) -> bool:
    """Whether a token of a person with this role has all of their rights, in all queues."""
    return token.scope == FULL_SCOPE[role] and token.queue is None


def may_grant(token: ApiToken, scope: Scope, role: Role) -> bool:
    """Whether this token, of a person with this role, may be used to create another one of that scope.

    ``read`` reads everything that its person may read, so only a token that may read all of that can pass it
    on.
    """
    return scope in _COVERED[token.scope] or (scope == "read" and token.scope == FULL_SCOPE[role])
