"""One file for each version, the oldest first."""
