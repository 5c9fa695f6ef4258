"""A server of its own for `leaseq up`: its process, its data directory, its supervisor."""
