"""Secrets that are shown once: 256 random bits, of which only the SHA-256 is stored.

A plain fast hash is enough, since 256 bits cannot be guessed at any speed.
"""

from __future__ import annotations

import hashlib
import secrets

ID_LENGTH = 12
"""The length of the prefix of a secret's hash that identifies it in lists: useless as a secret."""


def new_secret(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
