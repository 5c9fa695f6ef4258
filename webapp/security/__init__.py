"""Who may do what, what a token may, the security headers, and the audit log."""
