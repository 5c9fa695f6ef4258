"""Simulated people who work through a queue, for `leaseq simulate`."""
