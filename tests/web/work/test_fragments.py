"""Parts of the work page that are cached for many people contain no data of a single person or item."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import quote

import pytest
from flask import Flask
from itsdangerous import TimestampSigner, URLSafeTimedSerializer

import leaseq
from tests.web.conftest import Browser
from tests.web.elements import attributes, elements, texts
from tests.web.work_pages import path, take

FRAGMENT = {"X-Leaseq-Fragment": "yes"}
ANSWER = {"answer.about": "refund", "answer.urgent": "true"}
ODD = 'a"b<c>/&d'


def item_actions(text: str) -> set[str]:
    return set(attributes(text, "button:is([formaction$='/abandon'], [formaction$='/fail'])", "formaction"))


def csrf_of(text: str) -> str:
    return attributes(text, "[name=csrf_token]", "value")[0]


def test_item_actions_use_path_of_shown_item(worker_browser: Browser, form_queue: leaseq.Queue) -> None:
    form_queue.enqueue({}, id=ODD)
    for id in ("one", "two", ODD):
        lease = take(form_queue, worker_browser)
        assert lease.id == id
        base = f"/q/{form_queue.name}/items/{quote(id, safe='')}"
        assert {
            quote(unescape(action), safe="/%")
            for action in item_actions(worker_browser.get(path(form_queue)).text)
        } == {
            f"{base}/abandon",
            f"{base}/fail",
        }
        form_queue.abandon(lease, again=False)


def test_text_typed_by_person_is_not_in_page_of_another(
    sign_in_as: Callable[[str], Browser], form_queue: leaseq.Queue
) -> None:
    ann, bob = sign_in_as("worker"), sign_in_as("worker")
    lease = take(form_queue, ann)
    fields = {"token": str(lease.token), "then": "next", "note": "I know this customer"}
    response = ann.post(path(form_queue, "items", lease.id, "finish"), fields)
    assert response.status_code == 422
    assert "I know this customer" in response.text
    take(form_queue, bob)
    assert "I know this customer" not in bob.get(path(form_queue)).text


@pytest.mark.parametrize("verb", ["fail", "abandon", "finish"])
def test_texts_about_item_are_not_in_boxes_of_next_item(
    worker_browser: Browser, form_queue: leaseq.Queue, verb: str
) -> None:
    lease = take(form_queue, worker_browser)
    texts = {"error": "the page is torn", "note": "the page is torn", "reason": "the page is torn"}
    form = {"token": str(lease.token), "then": "next", **ANSWER, **texts}
    response = worker_browser.post(path(form_queue, "items", lease.id, verb), form, headers=FRAGMENT)
    assert response.status_code == 200
    assert 'data-id="two"' in response.text
    assert "the page is torn" not in response.text
    assert elements(response.text, "details[name=way][open]") == []


def test_form_and_item_actions_use_language_of_request(
    worker_browser: Browser, form_queue: leaseq.Queue
) -> None:
    take(form_queue, worker_browser)
    english = worker_browser.get(path(form_queue)).text
    worker_browser.client.set_cookie("leaseq-language", "de")
    german = worker_browser.get(path(form_queue)).text
    assert "Report a problem" in english
    assert "Report a problem" not in german
    assert "Problem melden" in german
    choices = [choice for page in (english, german) for choice in texts(page, "label span[dir=auto]")]
    assert [choice for choice in choices if choice in ("Yes", "No", "Ja", "Nein")] == [
        "Yes",
        "No",
        "Ja",
        "Nein",
    ]


class EarlierSigner(TimestampSigner):
    def get_timestamp(self) -> int:
        return super().get_timestamp() - 100


def sign_earlier(app: Flask, token: str) -> str:
    """The same token, signed some time ago."""
    key, salt = str(app.secret_key), "wtf-csrf-token"
    payload = URLSafeTimedSerializer(key, salt=salt).loads(token)
    return str(URLSafeTimedSerializer(key, salt=salt, signer=EarlierSigner).dumps(payload))


def test_fragment_forms_reuse_submitted_csrf_token(
    app: Flask, worker_browser: Browser, form_queue: leaseq.Queue
) -> None:
    lease, csrf_token = (
        take(form_queue, worker_browser),
        sign_earlier(app, worker_browser.csrf(path(form_queue))),
    )
    fields = {"csrf_token": csrf_token, "token": str(lease.token), "then": "next", **ANSWER}
    fragment = worker_browser.client.post(
        path(form_queue, "items", lease.id, "finish"), data=fields, headers=FRAGMENT
    )
    assert fragment.status_code == 200
    assert csrf_of(fragment.text) == csrf_token
    (next_lease,) = form_queue.mine(worker_browser.name)
    fields |= {"token": str(next_lease.token), "then": "stop"}
    response = worker_browser.client.post(path(form_queue, "items", next_lease.id, "finish"), data=fields)
    assert response.status_code == 303, "it is still valid"


def test_forged_csrf_token_is_refused_and_not_echoed(
    worker_browser: Browser, form_queue: leaseq.Queue
) -> None:
    lease = take(form_queue, worker_browser)
    fields = {"csrf_token": "forged", "token": str(lease.token)}
    response = worker_browser.client.post(
        path(form_queue, "items", lease.id, "finish"), data=fields, headers=FRAGMENT
    )
    assert response.status_code == 403
    assert "forged" not in response.text


def test_time_is_localized_in_page_and_utc_in_fragment(
    worker_browser: Browser, form_queue: leaseq.Queue
) -> None:
    lease = take(form_queue, worker_browser)
    assert re.search(
        r"<time [^>]*>[A-Z][a-z]+ \d+, \d{4}, .*UTC</time>", worker_browser.get(path(form_queue)).text
    )
    fields = {
        "csrf_token": worker_browser.csrf(path(form_queue)),
        "token": str(lease.token),
        "then": "next",
        **ANSWER,
    }
    fragment = worker_browser.client.post(
        path(form_queue, "items", lease.id, "finish"), data=fields, headers=FRAGMENT
    )
    assert fragment.status_code == 200
    assert re.search(r"<time [^>]*>\d{4}-\d\d-\d\d \d\d:\d\d UTC</time>", fragment.text)
