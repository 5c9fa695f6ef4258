"""End-to-end tests in a browser. A package, so that its web app ends before tests of other folders run."""
