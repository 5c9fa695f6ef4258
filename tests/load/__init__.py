"""The load generator of ``./dev bench load``: people who work on the pages of a real gunicorn."""
