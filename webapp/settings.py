"""The web app's settings: LEASEQ_* environment variables, each with its default and its meaning.

The table in the docs is made from this class.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from leaseq import LeaseqError

MIN_SECRET = 32


class SettingsRefused(LeaseqError):
    """A setting is missing or can't be used; the message names each by its variable."""


class Settings(BaseSettings):
    """Read once, when the app is made."""

    model_config = SettingsConfigDict(env_prefix="LEASEQ_", extra="ignore", frozen=True)

    redis_url: str = Field(
        "redis://localhost:6379/0",
        description="The server: redis:// rediss:// unix:// redis+sentinel:// redis+cluster://",
    )
    secret_key: SecretStr = Field(
        description=f"Signs the sessions: at least {MIN_SECRET} characters, random, the same for "
        "every web process. "
        "`leaseq up` makes one in its data directory.",
    )
    secure_cookies: bool = Field(
        False,
        description="Set it where people reach the pages by https: cookies are then sent by https only.",
    )
    trusted_proxies: int = Field(
        0,
        ge=0,
        le=8,
        description="How many reverse proxies stand before the app. So many X-Forwarded-* are believed.",
    )
    session_days: int = Field(
        14, ge=1, le=365, description="After so many days without a visit a person signs in again."
    )
    max_body_bytes: int = Field(
        8_388_608,
        ge=524_288,
        description="The largest request body. Imported files and application/x-ndjson may be of any size.",
    )
    waiting: int = Field(
        8,
        ge=0,
        le=256,
        description="How many requests of one web process may wait for an item at once; each keeps a thread. "
        "Others are answered at once. `leaseq serve` and `leaseq up` take half of their threads.",
    )
    watching: int = Field(
        200,
        ge=0,
        le=10_000,
        description="How many may watch queues by event streams of one web process at once; "
        "none keeps a thread. Others are told to ask now and then.",
    )
    media_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Origins, such as https://cdn.example.org, of which pages show images, audio and video; "
        "split by spaces. Others are shown as links.",
    )

    @field_validator("secret_key")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < MIN_SECRET:
            raise ValueError(f"at least {MIN_SECRET} characters are needed")
        return value

    @field_validator("media_origins", mode="before")
    @classmethod
    def _origins(cls, value: object) -> object:
        found = tuple(value.split()) if isinstance(value, str) else value
        if isinstance(found, tuple):
            for origin in found:
                if not str(origin).startswith(("https://", "http://")) or str(origin).count("/") != 2:
                    raise ValueError(f"{origin!r} is no origin like https://cdn.example.org")
        return found


def load_settings() -> Settings:
    """The settings from the environment, or SettingsRefused with one line that names what is wrong."""
    try:
        return Settings()  # type: ignore[call-arg]  # pydantic-settings fills it from the environment
    except ValidationError as error:
        raise SettingsRefused("; ".join(map(_line, error.errors(include_input=False)))) from None


def _line(error: object) -> str:
    found = dict(error)  # type: ignore[call-overload]
    name = "LEASEQ_" + "_".join(map(str, found["loc"])).upper()
    if found["type"] == "missing":
        return f"{name} is not set: {Settings.model_fields[found['loc'][0]].description}"
    return f"{name}: {found['msg'].removeprefix('Value error, ')}"
