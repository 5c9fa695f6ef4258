"""The web app's settings: LEASEQ_* environment variables, with their defaults and meanings.

The table in the docs is generated from this class.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from limits import RateLimitItem, parse_many
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from leaseq import LeaseqError
from leaseq.webapp.origins import is_confidential, origin_of

MIN_SECRET = 32
HOW_TO_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
EXAMPLES = ("changeme", "change-me", "change me", "secret-key", "secret_key")

Network = IPv4Network | IPv6Network


class SettingsRefused(LeaseqError):
    """Settings are missing or invalid; the message names the variable of each."""


class Settings(BaseSettings):
    """The settings, read once when the app is created."""

    model_config = SettingsConfigDict(
        env_prefix="LEASEQ_",
        env_ignore_empty=True,  # like the commands with the variables of their options
        extra="ignore",
        frozen=True,
        arbitrary_types_allowed=True,
    )

    redis_url: str = Field(
        "redis://localhost:6379/0",
        description="The server's URL: redis:// rediss:// unix:// redis+sentinel:// redis+cluster://",
    )
    secret_key: SecretStr = Field(
        description=f"The key that signs sessions: at least {MIN_SECRET} random characters, the same for "
        "every web process. `leaseq up` creates one in its data directory.",
    )
    secure_cookies: bool = Field(
        False,
        description="Set it if people use https: cookies are then sent over https only.",
    )
    trusted_proxies: int = Field(
        0,
        ge=0,
        le=8,
        description="The number of reverse proxies in front of the app, and of X-Forwarded-* values to "
        "trust.",
    )
    proxy_addresses: Annotated[tuple[Network, ...], NoDecode] = Field(
        (ip_network("127.0.0.0/8"), ip_network("::1/128")),
        description="Addresses or networks, such as 10.0.0.0/8, that the trusted proxies connect from, "
        "separated by spaces; by default this machine. X-Forwarded-* and X-Request-Id from other addresses "
        "are ignored.",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Host names by which the app may be reached, such as queue.example.org, or .example.org "
        "for all its subdomains; separated by spaces. A request with another host is refused. If not set, "
        "any "
        "host is accepted.",
    )
    session_days: int = Field(
        14, ge=1, le=365, description="A session ends after this many days without a visit."
    )
    max_body_bytes: int = Field(
        8_388_608,
        ge=524_288,
        description="The largest request body. Imported files and application/x-ndjson may be of any size.",
    )
    threads: int = Field(
        16,
        ge=1,
        le=256,
        description="How many requests one web process handles at the same time; further ones wait in line. "
        "Requests that wait for an item, and event streams, do not count.",
    )
    max_queue_seconds: float = Field(
        1.0,
        ge=0,
        le=60,
        description="A request that waited longer than this in line is answered with 503 and "
        "Retry-After. If "
        "requests have been queueing that long already, the limit drops to a twentieth. 0: no limit.",
    )
    rate_limit: Annotated[RateLimitItem | None, NoDecode] = Field(
        None,
        description="How many REST requests the tokens of each person may send, such as 600/minute or "
        "20/second. Further ones are refused with 429. If not set, there is no limit.",
    )
    drain_seconds: int = Field(
        0,
        ge=0,
        le=600,
        description="How long a stopping web process still accepts requests, while /readyz "
        "returns 503: the time that a load balancer needs to notice.",
    )
    time_zone: str = Field(
        "UTC",
        description="The site's time zone, such as Europe/Berlin. Pages show and accept times in this zone, "
        "and days begin at its midnight. REST and the command line use UTC.",
    )
    media_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Origins, such as https://cdn.example.org, from which pages show images, audio, "
        "video and PDF; separated by spaces. Media from other origins are shown as links.",
    )
    files: str | None = Field(
        None,
        description="Where files are kept that people send as answers: a folder such as "
        "/var/lib/leaseq/files, the same for every web process, or a bucket such as "
        "s3://BUCKET/PREFIX?endpoint=https://minio.example.org&region=eu-central-1, which requires "
        "`pip install 'leaseq[s3]'`. If not set, nobody can send files.",
    )
    max_file_bytes: int = Field(
        104_857_600, ge=1, description="The largest file that people may send, even if a form allows more."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Origins, such as https://app.example.org, whose pages may call REST with a token; "
        "separated by spaces.",
    )
    webhook_allow: Annotated[tuple[Network, ...], NoDecode] = Field(
        (),
        description="Addresses or networks, such as 10.1.2.0/24, that are not public but to which webhooks "
        "may be sent; separated by spaces. `leaseq webhook` uses this setting, too.",
    )
    metrics_token: SecretStr | None = Field(
        None,
        description=f"A token of at least {MIN_SECRET} random characters with which Prometheus may read "
        "/metrics, and nothing else. Managers can also use their own tokens.",
    )
    log: Literal["text", "json"] = Field(
        "text", description="The format of log lines on standard error: text for people, json for programs."
    )
    oidc_issuer: str | None = Field(
        None,
        description="The issuer URL of an OpenID Connect provider for sign-in, such as "
        "https://login.example.org/realms/team. It requires `pip install 'leaseq[oidc]'`.",
    )
    oidc_client_id: str | None = Field(
        None, validate_default=True, description="The client id that the provider gave to leaseq."
    )
    oidc_client_secret: SecretStr | None = Field(
        None, description="The client secret, if the provider gave one."
    )
    oidc_claim: str | None = Field(
        None,
        validate_default=True,
        description="The claim that is the person's name in leaseq, such as `preferred_username`, or "
        "`email` if the provider has verified it. Required with LEASEQ_OIDC_ISSUER: choose "
        "a claim that people can't change themselves.",
    )
    oidc_create: bool = Field(
        False,
        description="Create a worker account at the first sign-in through the provider. If not set, an "
        "admin must add people first.",
    )

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @field_validator("time_zone")
    @classmethod
    def _check_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(
                f"{value!r} is not a time zone that this machine knows, like Europe/Berlin; if it knows "
                "none, install the package tzdata"
            ) from None
        return value

    @field_validator("rate_limit", mode="before")
    @classmethod
    def _parse_rate(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            (limit,) = parse_many(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a limit like 600/minute or 20/second") from None
        return limit

    @field_validator("files")
    @classmethod
    def _check_files(cls, value: str | None) -> str | None:
        if value is None or value.startswith("/"):
            return value
        if not value.startswith("s3://"):
            raise ValueError("must be a folder that begins with /, or a URL like s3://BUCKET/PREFIX")
        if find_spec("botocore") is None:
            raise ValueError("a package is missing: pip install 'leaseq[s3]'")
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _check_issuer(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not is_confidential(value) or "?" in value or "#" in value:
            raise ValueError(
                "must be a URL like https://login.example.org/realms/team: https:// (http:// for "
                "this machine only) and a host, without a user, a query or a fragment"
            )
        if find_spec("authlib") is None or find_spec("requests") is None:
            raise ValueError("a package is missing: pip install 'leaseq[oidc]'")
        return value

    @field_validator("oidc_client_id", "oidc_claim")
    @classmethod
    def _require_with_issuer(cls, value: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("oidc_issuer") and not value:
            raise ValueError("is required with LEASEQ_OIDC_ISSUER")
        return value

    @field_validator("secret_key", "metrics_token")
    @classmethod
    def _check_secret(cls, value: SecretStr | None) -> SecretStr | None:
        secret = value.get_secret_value() if value is not None else None
        if secret is not None and len(secret) < MIN_SECRET:
            raise ValueError(f"must have at least {MIN_SECRET} characters")
        if secret is not None and _is_weak(secret):
            raise ValueError(f"is easy to guess: make one with {HOW_TO_MAKE}")
        return value

    @field_validator(
        "proxy_addresses", "allowed_hosts", "cors_origins", "media_origins", "webhook_allow", mode="before"
    )
    @classmethod
    def _split_words(cls, value: object) -> object:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for host in value:
            if not re.fullmatch(r"\[[0-9a-f:]+\]|\.?[a-z0-9-]+(\.[a-z0-9-]+)*", host, re.IGNORECASE):
                raise ValueError(
                    f"{host!r} is not a host name like queue.example.org, without scheme and port"
                )
        return value

    @field_validator("cors_origins", "media_origins")
    @classmethod
    def _check_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            if origin_of(origin) != origin:
                raise ValueError(
                    f"{origin!r} is not an origin as a browser writes it, like https://cdn.example.org: "
                    f"scheme, "
                    "host in lower case, and the port if it is not the default"
                )
        return value


def _is_weak(secret: str) -> bool:
    """Whether it has few different characters, a repeated part, or a value from an example.

    Random secrets pass: only one in 40,000 with 32 hexadecimal characters has fewer than 9 different ones.
    """
    plain = secret.casefold()
    repeats = (plain * 2).find(plain, 1) <= len(plain) // 2
    return repeats or len(set(secret)) < 9 or any(word in plain for word in EXAMPLES)


def load_settings() -> Settings:
    """Read the settings from the environment. Raises SettingsRefused with one line that names what is
    wrong."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsRefused("; ".join(map(_line, error.errors(include_input=False)))) from None


def _line(error: object) -> str:
    details = dict(error)  # type: ignore[call-overload]
    name = "LEASEQ_" + "_".join(map(str, details["loc"])).upper()
    if details["type"] == "missing":
        return f"{name} is not set: {Settings.model_fields[details['loc'][0]].description}"
    return f"{name}: {details['msg'].removeprefix('Value error, ')}"
