"""Settings come from the environment; what can't be used is refused by name."""

from __future__ import annotations

import pytest

from webapp.settings import Settings, SettingsRefused, load_settings

from .conftest import SECRET


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SECRET_KEY", None, "LEASEQ_SECRET_KEY is not set"),
        ("SECRET_KEY", "", "LEASEQ_SECRET_KEY: at least 32"),
        ("SECRET_KEY", "x" * 31, "LEASEQ_SECRET_KEY: at least 32"),
        ("TRUSTED_PROXIES", "-1", "LEASEQ_TRUSTED_PROXIES"),
        ("SESSION_DAYS", "many", "LEASEQ_SESSION_DAYS"),
        ("MAX_BODY_BYTES", "10", "LEASEQ_MAX_BODY_BYTES"),
        ("MEDIA_ORIGINS", "https://a.example/path", "LEASEQ_MEDIA_ORIGINS"),
        ("MEDIA_ORIGINS", "https://a.example; script-src *", "LEASEQ_MEDIA_ORIGINS"),
    ],
)
def test_a_bad_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, said: str
) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    if value is None:
        monkeypatch.delenv(f"LEASEQ_{name}")
    else:
        monkeypatch.setenv(f"LEASEQ_{name}", value)
    with pytest.raises(SettingsRefused) as refused:
        load_settings()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    if value:
        assert name != "SECRET_KEY" or value not in str(refused.value)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", SECRET)
    monkeypatch.setenv("LEASEQ_REDIS_URL", "redis://elsewhere:1")
    monkeypatch.setenv("LEASEQ_MEDIA_ORIGINS", "https://a.example https://b.example")
    found = load_settings()
    assert found.redis_url == "redis://elsewhere:1"
    assert found.media_origins == ("https://a.example", "https://b.example")
    assert SECRET not in repr(found)


def test_each_setting_says_what_it_is() -> None:
    assert all(field.description for field in Settings.model_fields.values())
