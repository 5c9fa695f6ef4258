"""Sign-in and sign-out, sign-up, and the person's own account."""

from leaseq.webapp.auth.session import bp, local_path

__all__ = ["bp", "local_path"]

from leaseq.webapp.auth import account, login, provider
