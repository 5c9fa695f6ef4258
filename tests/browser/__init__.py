"""Journeys in a real browser. A package, so that its web app ends before the tests of other folders run."""
