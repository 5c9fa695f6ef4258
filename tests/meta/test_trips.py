"""How many files a request crosses, which decides how long a reader takes to follow it."""

from __future__ import annotations

from tools import trips


def test_trips_cross_no_more_files_than_allowed() -> None:
    measured = trips.measure()
    crossed = {name: len(entries) for name, (entries, _) in measured.items()}
    assert crossed.keys() == trips.LIMITS.keys()
    longer = {name: count for name, count in crossed.items() if count > trips.LIMITS[name]}
    assert not longer, "./dev trips --files names the files of each trip"
    assert trips.policy_reads(measured["settings"][1]) <= trips.POLICY_READS
