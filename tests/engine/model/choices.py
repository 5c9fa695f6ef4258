"""The values that the state machine chooses from: people with skills, and new items."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

SKILLS: dict[str, tuple[str, ...]] = {"ann": (), "b b": ("fr",), "cyd": ("fr", "legal"), "@d:1": ("fr",)}
SKILLS |= {"eva": (), "fay": ("fr",)}
# Time moves in whole seconds, and leases and delays end in between: nothing ends at the exact moment.
LEASE_SECONDS = 9.5

BAND = {10: "high", 100: "normal", 200: "low"}
FORM = {"ask": {"type": "object", "title": "Its own"}}


class New(NamedTuple):
    """A new item. The last three only for people."""

    priority: int = 100
    delay: float = 0
    attempts: int = 2
    due_in: float | None = None
    requires: tuple[str, ...] = ()
    expires: float | None = None
    to: str | None = None
    has_form: bool = False


NEW: st.SearchStrategy[New] = st.builds(
    New,
    st.sampled_from([10, 100, 100, 200]),
    st.sampled_from([0, 0, 0, 4.25]),
    st.integers(1, 4),
    st.sampled_from([None, None, -7.5, 12.5]),
    st.sampled_from([(), (), (), ("fr",), ("fr", "legal")]),
    st.sampled_from([None, None, 3.75, 14.75]),
    st.sampled_from([None, None, None, *SKILLS]),
    st.booleans(),
)
