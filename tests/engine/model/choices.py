"""The values that the state machine chooses from: people with skills, and new items."""

from __future__ import annotations

from hypothesis import strategies as st

SKILLS: dict[str, tuple[str, ...]] = {"ann": (), "b b": ("fr",), "cyd": ("fr", "legal"), "@d:1": ("fr",)}
SKILLS |= {"eva": (), "fay": ("fr",)}
# Time moves in whole seconds, and leases and delays end in between: nothing ends at the exact moment.
LEASE_SECONDS = 9.5

BAND = {10: "high", 100: "normal", 200: "low"}
New = tuple[int, float, int, float | None, tuple[str, ...]]  # priority, delay, attempts, due in, requires
NEW: st.SearchStrategy[New] = st.tuples(
    st.sampled_from([10, 100, 100, 200]),
    st.sampled_from([0, 0, 0, 4.25]),
    st.integers(1, 4),
    st.sampled_from([None, None, -7.5, 12.5]),
    st.sampled_from([(), (), (), ("fr",), ("fr", "legal")]),
)
