"""Token scopes: a token allows at most what its person may do, within its scope and its queue."""

from __future__ import annotations

from leaseq.webapp.store.accounts import FULL_SCOPE, HIGHEST_ROLE, SCOPES, ApiToken, Role, Scope, at_least

_SAFE = ("GET", "HEAD")


def refusal(token: ApiToken, need: Role, method: str, queue: str | None) -> str | None:
    """Why this token may not make a call that requires the role ``need``; None if it may.

    ``queue`` is the one in the call's path. A token for one queue may not make calls without a queue.
    """
    if token.scope == "read" and method not in _SAFE:  # guard: scope-reads-only
        return "this token may only read: use one with another scope"
    if not at_least(HIGHEST_ROLE[token.scope], need):  # guard: scope-role
        wider_scopes = " or ".join(
            one for one in SCOPES if one != "read" and at_least(HIGHEST_ROLE[one], need)
        )
        return (
            f"this call requires a token of the scope {wider_scopes}; the scope of this one is {token.scope}"
        )
    if token.queue not in (None, queue):  # guard: token-queue
        return f"this token is for the queue {token.queue!r} only: use one that is for all queues"
    return None


def may_grant(token: ApiToken, scope: Scope, role: Role) -> bool:
    """Whether this token, of a person with this role, may be used to create another one of that scope.

    ``read`` reads everything that its person may read, so only a token that may read all of that can pass it
    on.
    """
    if scope in (token.scope, "read") and token.scope in (scope, FULL_SCOPE[role]):
        return True
    return "read" not in (token.scope, scope) and SCOPES.index(scope) <= SCOPES.index(token.scope)
