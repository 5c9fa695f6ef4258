"""Takes the screenshots of docs/images from a running demo with people at work: ``./dev pictures``."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

import leaseq
from leaseq.webapp.demo import QUEUE
from leaseq.webapp.store.accounts import Accounts
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PASSWORD
from tests.support.ports import free_port
from tests.support.processes import LEASEQ, UpProcess

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE: ViewportSize = {"width": 1280, "height": 720}
SECONDS = 20  # that people work before the dashboard's screenshot


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, sync_playwright() as playwright:
        process = UpProcess(Path(folder) / "data", free_port(), "--demo")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            take_all(browser, f"http://127.0.0.1:{process.port}", process.state()["url"])
        finally:
            browser.close()
            process.stop()


def take_all(browser: Browser, address: str, server: str) -> None:
    accounts = Accounts(leaseq.connect(server))
    accounts.add("Ann", by="pictures", password=PASSWORD)
    accounts.add("Meg", by="pictures", role="manager", password=PASSWORD)
    tab = browser.new_page(base_url=address, viewport=SIZE)
    sign_in(tab, "Ann")
    tab.goto(f"/q/{QUEUE}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_role("button", name="Keys")).to_be_visible()
    tab.keyboard.press("Escape")  # closes the instructions
    tab.keyboard.press("1")
    take(tab, "work")
    options = ("--people", "5", "--think", "3", "--abandon-rate", "0.15", "--seconds", str(SECONDS))
    subprocess.run([LEASEQ, "simulate", QUEUE, *options, "--redis", server], check=True)
    leaseq.Queue(leaseq.connect(server), QUEUE).reserve("Bob")
    manager_tab = browser.new_page(base_url=address, viewport=SIZE, color_scheme="dark")
    sign_in(manager_tab, "Meg")
    manager_tab.goto(f"/manage/{QUEUE}")
    expect(manager_tab.get_by_text("Live", exact=True)).to_be_visible()
    take(manager_tab, "dashboard")


def sign_in(tab: Page, person: str) -> None:
    tab.goto("/login")
    tab.get_by_label("Name").fill(person)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    expect(tab.locator("#person-menu")).to_be_visible()


def take(tab: Page, name: str) -> None:
    tab.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")


if __name__ == "__main__":
    main()
