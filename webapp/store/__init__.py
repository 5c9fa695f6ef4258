"""The web app's data in the server: accounts, daily activity, idempotency keys."""
