"""The load generator of ``./dev bench load``: people who work at the pages of a real gunicorn."""
