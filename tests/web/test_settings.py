"""Settings come from the environment; an invalid one is refused with its name."""

from __future__ import annotations

import secrets

import pytest

from leaseq.webapp.settings import Settings, SettingsRefused, load_settings
from tests.web.conftest import SECRET


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SECRET_KEY", None, "LEASEQ_SECRET_KEY is not set"),
        ("SECRET_KEY", "", "LEASEQ_SECRET_KEY is not set"),
        ("SECRET_KEY", "x" * 31, "LEASEQ_SECRET_KEY: must have at least 32"),
        ("SECRET_KEY", "x" * 40, "LEASEQ_SECRET_KEY: is easy to guess"),
        ("SECRET_KEY", "abcdefghijkl" * 4, "LEASEQ_SECRET_KEY: is easy to guess"),
        ("SECRET_KEY", "1212121211212121121212112121122", "LEASEQ_SECRET_KEY: must have at least 32"),
        ("SECRET_KEY", "12121212112121211212121121211221", "LEASEQ_SECRET_KEY: is easy to guess"),
        ("SECRET_KEY", "please-changeme-before-production", "LEASEQ_SECRET_KEY: is easy to guess"),
        ("METRICS_TOKEN", "secret", "LEASEQ_METRICS_TOKEN: must have at least 32"),
        ("PROXY_ADDRESSES", "nginx", "LEASEQ_PROXY_ADDRESSES"),
        ("LOG", "xml", "LEASEQ_LOG"),
        ("ALLOWED_HOSTS", "https://a.example", "LEASEQ_ALLOWED_HOSTS"),
        ("TRUSTED_PROXIES", "-1", "LEASEQ_TRUSTED_PROXIES"),
        ("SESSION_DAYS", "many", "LEASEQ_SESSION_DAYS"),
        ("MAX_BODY_BYTES", "10", "LEASEQ_MAX_BODY_BYTES"),
        ("CORS_ORIGINS", "*", "LEASEQ_CORS_ORIGINS"),
        ("CORS_ORIGINS", "https://ok.example null", "LEASEQ_CORS_ORIGINS"),
        ("CORS_ORIGINS", "https://a.example/", "LEASEQ_CORS_ORIGINS"),
        ("CORS_ORIGINS", "https://*.example", "LEASEQ_CORS_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example/path", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example; script-src *", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example;script-src", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://*", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://user@a.example", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example.", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example:x", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example?x", "LEASEQ_MEDIA_ORIGINS"),
    ],
)
@pytest.mark.guard("media-origin-setting", "secret-length", "secret-needed", "secret-weak")
def test_refusal_of_invalid_setting_names_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, message: str
) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    if value is None:
        monkeypatch.delenv(f"LEASEQ_{name}")
    else:
        monkeypatch.setenv(f"LEASEQ_{name}", value)
    with pytest.raises(SettingsRefused) as error:
        load_settings()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    if value:
        assert name not in ("SECRET_KEY", "METRICS_TOKEN") or value not in str(error.value)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    monkeypatch.setenv("LEASEQ_REDIS_URL", "redis://elsewhere:1")
    monkeypatch.setenv("LEASEQ_MEDIA_ORIGINS", "https://a.example https://b.example")
    settings = load_settings()
    assert settings.redis_url == "redis://elsewhere:1"
    assert settings.media_origins == ("https://a.example", "https://b.example")
    assert SECRET not in repr(settings)


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "secret_key"])
def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    monkeypatch.setenv(f"LEASEQ_{name.upper()}", "")
    assert getattr(load_settings(), name) == Settings.model_fields[name].default


def test_random_secrets_of_common_encodings_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    for make_secret in (secrets.token_urlsafe, secrets.token_hex, lambda size: secrets.token_hex(size // 2)):
        monkeypatch.setenv("LEASEQ_SECRET_KEY", make_secret(32))
        assert load_settings().secret_key


def test_secret_key_requires_nine_distinct_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", "abcdefghihgfedcbacebdfhgaihbgcfa")
    assert load_settings().secret_key
    monkeypatch.setenv("LEASEQ_SECRET_KEY", "abcdefghagfedcbacebdfhgadhbgcfae")
    with pytest.raises(SettingsRefused, match="easy to guess"):
        load_settings()


def test_each_setting_has_description() -> None:
    assert all(field.description for field in Settings.model_fields.values())
