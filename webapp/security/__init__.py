"""Authorization, token scopes, security headers, and the audit log."""
