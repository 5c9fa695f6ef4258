"""One file a version, the oldest first."""
