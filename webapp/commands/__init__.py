"""Commands of `leaseq` that need accounts or gunicorn, plugged in by entry points."""
