"""What the web app keeps in the server: accounts, daily activity, idempotency keys."""
