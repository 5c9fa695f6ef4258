"""The colours shared by all pages have enough contrast, in both schemes (WCAG 2.2 AA)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leaseq import webapp

CSS = Path(webapp.__file__).parent.joinpath("static", "shared", "tokens.css").read_text()
PAIRS = dict(re.findall(r"--([a-z-]+): light-dark\(([^)]+)\)", CSS))
SURFACES = ("paper", "sheet", "wash")
TEXT = ("ink", "soft", "accent", "error", "warning")
STATES = ("inbound", "scheduled", "finished", "error", "accent")


def colour(name: str, scheme: str) -> tuple[float, ...]:
    light, dark = (part.strip().removeprefix("#") for part in PAIRS[name].split(","))
    digits = light if scheme == "light" else dark
    pairs = [digit * 2 for digit in digits] if len(digits) == 3 else re.findall("..", digits)
    return tuple(int(pair, 16) / 255 for pair in pairs)


def luminance(rgb: tuple[float, ...]) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in rgb
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first_name: str, second_name: str, scheme: str) -> float:
    dim, bright = sorted(luminance(colour(name, scheme)) for name in (first_name, second_name))
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("surface", SURFACES)
def test_text_and_controls_have_enough_contrast(surface: str, scheme: str) -> None:
    for text in TEXT:
        assert contrast(text, surface, scheme) >= 4.5, text
    assert contrast("edge", surface, scheme) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("surface", ["paper", "sheet", "raised"])
def test_state_dots_have_enough_contrast(surface: str, scheme: str) -> None:
    for state in STATES:
        assert contrast(state, surface, scheme) >= 3, state


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_primary_button_has_enough_contrast(scheme: str) -> None:
    assert contrast("on-accent", "accent", scheme) >= 4.5


def test_text_of_work_pages_is_at_least_sixteen_pixels() -> None:
    """Font sizes below 1rem use a variable; it is less than 16 px only on managers' pages with a mouse."""
    static = Path(webapp.__file__).parent.joinpath("static")
    sheets = "".join(sheet.read_text() for sheet in static.rglob("*.css") if sheet.name != "tokens.css")
    assert not re.findall(r"font(?:-size)?: ?\.\d+rem", sheets)
    person_rules, dense_rules = CSS.split("@media (hover: hover)")
    assert pixels(person_rules) >= 16
    assert 13 <= pixels(dense_rules) < 16
    assert ".dense" in dense_rules.splitlines()[1]


def pixels(rules: str) -> float:
    """The size of small text under these rules."""
    small, base = (re.search(rf"--{name}: ([\d.]+)", rules) for name in ("small", "base"))
    assert small
    assert base
    return float(small[1]) * float(base[1]) / 100 * 16
