"""The second factor: six-digit codes from the person's device, which change every 30 seconds (RFC 6238)."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from leaseq import Invalid
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.model import digest
from leaseq.webapp.store.base import Store

ISSUER = "leaseq"
RECOVERY_CODES = 10
OFFER_SECONDS = 900
_STEP = 30
_DRIFT = 1  # a code is also valid in the half minutes before and after its own, since clocks differ
_USED_SECONDS = 300
_RECOVERY_BYTES = 15  # 120 random bits can't be guessed from a hash
_GROUP = 4


@dataclass(frozen=True, slots=True)
class Factor:
    """A person's second factor, without its secret."""

    since: datetime
    recovery_codes: int  # the unused ones


class Factors(Store):
    def find(self, name: str) -> Factor | None:
        raw, codes_left = self._client.ask(("HGET", model.FACTORS, name), ("HLEN", model.recovery_key(name)))
        return Factor(datetime.fromtimestamp(json.loads(raw)["since"], UTC), codes_left) if raw else None

    def names(self) -> set[str]:
        """The names of the people who have a second factor."""
        return {name.decode() for name in self._redis.hkeys(model.FACTORS)}

    def offer(self, name: str) -> str:
        """A secret for the person's device, for 15 minutes. It takes effect once they confirm it with a
        code."""
        import pyotp  # noqa: PLC0415  # as in `Passwords`: the library alone can read the accounts

        key = model.factor_offered_key(name)
        self._redis.set(key, pyotp.random_base32(), ex=OFFER_SECONDS, nx=True)
        return str(self._redis.get(key).decode())

    def offered_secret(self, name: str) -> str | None:
        secret = self._redis.get(model.factor_offered_key(name))
        return secret.decode() if secret else None

    def confirm(self, name: str, code: str) -> list[str]:
        """Turn it on with a code of the offered secret. Returns the recovery codes in plain text, this
        once."""
        secret = self.offered_secret(name)
        if secret is None:
            raise Invalid("code", "sign_in", what="late_code")
        if not self._is_code(name, secret, code):
            raise Invalid("code", "sign_in", what="wrong_code")
        codes = [_recovery_code() for _ in range(RECOVERY_CODES)]
        record = json.dumps({"secret": secret, "since": self._clock()})
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(model.FACTORS, name, record)
        pipe.delete(model.factor_offered_key(name), model.recovery_key(name))
        pipe.hset(model.recovery_key(name), mapping=dict.fromkeys(map(_hashed, codes), 1))
        pipe.execute()
        return codes

    def accepts(self, name: str, code: str) -> bool:
        """Whether this is a code from the person's device, or a recovery code; each is valid once."""
        raw = self._redis.hget(model.FACTORS, name)
        if raw is None:
            return False
        if self._is_code(name, json.loads(raw)["secret"], code):
            return True
        return bool(self._redis.hdel(model.recovery_key(name), _hashed(code)))

    def remove(self, name: str) -> bool:
        """Delete it; returns False if there was none."""
        pipe = self._redis.pipeline(transaction=True)
        pipe.hdel(model.FACTORS, name)
        pipe.delete(model.factor_offered_key(name), model.recovery_key(name))
        return bool(pipe.execute()[0])

    def _is_code(self, name: str, secret: str, code: str) -> bool:
        """Whether the code is right and unused. An intercepted code can't be used again."""
        step = _step_of(secret, code, self._steps())
        if step is None:
            return False
        return bool(self._redis.set(model.code_used_key(step, name), 1, ex=_USED_SECONDS, nx=True))

    def _steps(self) -> range:
        now = int(self._clock()) // _STEP
        return range(now - _DRIFT, now + _DRIFT + 1)


def provisioning_uri(name: str, secret: str) -> str:
    """The URI in the QR code."""
    import pyotp  # noqa: PLC0415  # as above

    return pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=ISSUER)


def _step_of(secret: str, code: str, steps: Iterable[int]) -> int | None:
    import pyotp  # noqa: PLC0415  # as above

    code_bytes = "".join(code.split()).encode("utf-8", "replace")
    totp = pyotp.TOTP(secret)
    matching_steps = [
        step for step in steps if hmac.compare_digest(totp.generate_otp(step).encode(), code_bytes)
    ]
    return matching_steps[0] if matching_steps else None


def _recovery_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))


def _hashed(code: str) -> str:
    return digest("".join(character for character in code.lower() if character.isalnum()))
