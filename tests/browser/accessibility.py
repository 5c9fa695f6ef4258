"""Accessibility and width of a page, as far as a program can tell."""

from __future__ import annotations

from collections import defaultdict

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Without the rules that pass, the selectors of elements, and loading the style sheets again.
_OPTIONS = {"resultTypes": ["violations"], "selectors": False, "preload": False}
_CONTRAST = "color-contrast"
_OTHER_RULES = {**_OPTIONS, "runOnly": _TAGS, "rules": {_CONTRAST: {"enabled": False}}}
_CONTRAST_RULE = {**_OPTIONS, "runOnly": [_CONTRAST]}
_RULES_OF_LAYOUT = {**_OPTIONS, "runOnly": ["target-size", "scrollable-region-focusable"]}
_NEW_STYLE = "data-new-style"

# All else that axe returns takes longer on the way than most rules.
_FIND = "async (options) => (await axe.run(document, options)).violations"

# Measures the contrast of each visible text whose style is not known yet; returns what axe found, and the new
# styles. One script, as a live page may replace an element between two.
_CHECK_NEW_STYLES = """async ([mark, known, options]) => {
  const styles = new Set(known);
  for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!(hasText || element.matches("input, select, textarea")) || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const style = [element.tagName, element.className, element.disabled, color, fontSize, fontWeight];
    for (let behind = element; behind; behind = behind.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(behind);
      const background = [backgroundColor, backgroundImage, opacity].join();
      if (background !== "rgba(0, 0, 0, 0),none,1") style.push(background);
    }
    const key = style.join(" ");
    if (!styles.has(key)) element.setAttribute(mark, "");
    styles.add(key);
  }
  const newStyles = [...styles].slice(known.length);
  const { violations } = newStyles.length ? await axe.run(`[${mark}]`, options) : { violations: [] };
  return [violations, newStyles];
}"""

_checked_styles: dict[bool, dict[str, None]] = defaultdict(dict)


def find_violations(tab: Page, *, only_look: bool = False) -> list[str]:
    """Each broken rule, with its elements. The contrast, which takes longer than all other rules together, is
    measured once for each style of a text in each scheme. ``only_look``: the page was checked before, in
    another scheme and width."""
    tab.wait_for_load_state()  # until its style sheets are loaded
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(Axe().axe_script)
    rules = _RULES_OF_LAYOUT if only_look else _OTHER_RULES
    violations = tab.evaluate(_FIND, rules)
    checked = _checked_styles[tab.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")]
    too_faint, new_styles = tab.evaluate(_CHECK_NEW_STYLES, [_NEW_STYLE, list(checked), _CONTRAST_RULE])
    violations += too_faint
    if not violations:
        checked |= dict.fromkeys(new_styles)
    return [
        f"{violation['help']}: {[node['html'] for node in violation['nodes']]}" for violation in violations
    ]


def check_accessibility(tab: Page, *, only_look: bool = False) -> None:
    assert find_violations(tab, only_look=only_look) == [], tab.url
    check_width(tab)


def measure_excess(tab: Page) -> int:
    """How many pixels the page is wider than its window, or one of its lists wider than the page."""
    elements = "[document.documentElement, ...document.querySelectorAll('.scroll:has(> .cards)')]"
    measure = f"Math.max(...{elements}.map((one) => one.scrollWidth - one.clientWidth))"
    excess = int(tab.evaluate(measure))
    if excess > 0:  # its scripts hear of the new width at the next frame
        tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        excess = int(tab.evaluate(measure))
    return excess


def check_width(tab: Page) -> None:
    excess = measure_excess(tab)
    assert excess <= 0, f"{tab.url} or one of its lists is {excess} px too wide"
