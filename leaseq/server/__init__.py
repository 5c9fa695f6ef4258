"""The private server of `leaseq up`: its process, its data directory, its supervisor."""
