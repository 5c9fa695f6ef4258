"""An admin adds a webhook, sees what arrived and what failed, sends it again, and removes the webhook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import leaseq
from leaseq import webhooks
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in
from tests.support.leases import take
from tests.support.receiver import Receiver, open_receiver, sending


@pytest.fixture
def receiver(server: Any) -> Iterator[Receiver]:
    with open_receiver(server.redis) as receiver:
        yield receiver


def send_all(client: leaseq.Client) -> None:
    """Do what `leaseq webhook run` does, once."""
    webhooks.Feeder(client).feed()
    deliverer = webhooks.Deliverer(client, webhooks.networks("127.0.0.1"))
    (endpoint,) = deliverer.endpoints.all()
    while lease := deliverer.reserve(endpoint.id):
        deliverer.deliver(endpoint.id, lease)


def test_webhook_is_added_tested_resent_and_removed(
    tab: Page, manager: str, server: Any, letters: leaseq.Queue, receiver: Receiver
) -> None:
    sign_in(tab, manager)
    tab.goto("/manage")
    tab.get_by_role("link", name="Webhooks").press("Enter")
    url_field = tab.get_by_label("URL", exact=True)
    url_field.fill("https://10.0.0.1/hook")
    tab.get_by_label("Letters").press("Space")
    url_field.press("Enter")
    expect(tab.get_by_role("alert")).to_contain_text("a public address, got 10.0.0.1")
    expect(url_field).to_be_focused()
    expect(tab.get_by_label("Letters")).to_be_checked()
    url_field.fill(receiver.url)
    tab.keyboard.press("Enter")
    secret = tab.get_by_role("region", name="The new secret").locator("code").inner_text()
    check_accessibility(tab)
    with sending(server.client):
        tab.get_by_role("button", name="Send a test").press("Enter")
        expect(tab.get_by_role("status").filter(has_text="Test: delivered, 204")).to_be_visible()
    expect(tab.get_by_text(secret)).to_have_count(0)

    webhooks.Deliveries(server.client).queue.configure(max_attempts=1)
    receiver.responses.append((500, {}, b"the disk is full"))
    letters.finish(take(letters, "ann"), {"answer": "first"})
    send_all(server.client)
    tab.get_by_role("link", name="Webhooks").press("Enter")
    tab.get_by_role("link", name=receiver.url).press("Enter")
    row = tab.get_by_role("row", name="Item finished")
    expect(row).to_contain_text("failed")
    expect(row).to_contain_text("the disk is full")
    row.get_by_role("button", name="Send again").press("Enter")
    expect(tab.get_by_text("1 delivery is sent again.")).to_be_visible()
    send_all(server.client)
    tab.reload()
    expect(row).to_contain_text("delivered")
    event = receiver.requests[-1].verify(secret)
    assert (event["type"], event["data"]["id"]) == ("item.finished", "l1")
    tab.locator("summary", has_text="Remove").press("Enter")
    tab.get_by_role("button", name="Remove", exact=True).press("Enter")
    expect(tab.get_by_text("The endpoint is removed.")).to_be_visible()
    expect(tab).to_have_url(re.compile("/webhooks$"))
    expect(tab.get_by_text("There is no endpoint yet.")).to_be_visible()
