"""A finish undone by the page, without JavaScript, and how the page's script is answered."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.activity import Activity
from tests.web.conftest import Browser
from tests.web.work_pages import path, send, take

ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "thanks"}
PIECE = {"X-Leaseq-Piece": "yes"}


def hidden_fields(form: str) -> dict[str, str]:
    """The fields that a form sends by itself."""
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


def undo(queue: leaseq.Queue, person: Browser, lease: leaseq.Lease, **options: Any) -> Any:
    return person.post(path(queue, "items", lease.id, "undo"), {"token": str(lease.token)}, **options)


def test_the_answer_is_back_in_its_form(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    send(asking, person, lease, "finish", **{**ANSWER, "then": "next"})
    assert f'action="{path(asking, "items", lease.id, "undo")}"' in person.get(path(asking)).text
    response = undo(asking, person, lease)
    assert response.location == path(asking) + "?item=one"
    page = person.get(response.location).text
    assert 'value="thanks"' in page
    assert "Undone. Your answer is open again." in page
    assert "Undo" not in page.replace("Undone", "")
    assert asking.get("one").answers == ()
    assert {one.id for one in asking.mine(person.name)} == {"one", "two"}


WAYS = {
    "later": ("abandon", {"again": "yes"}, "You gave it back. You see it again"),
    "later, with a note": (
        "abandon",
        {"again": "yes", "note": "wants <French>"},
        "You gave it back. You see",
    ),
    "never": (
        "abandon",
        {"again": "no", "reason": "I know her"},
        "You gave it back, and won't see it again.",
    ),
    "failed": ("fail", {"error": "torn"}, "The item will be retried later."),
    "failed for good": ("fail", {"error": "torn"}, "Your manager will look at the item."),
}


@pytest.fixture
def activity(app: Flask) -> Activity:
    store: Activity = app.extensions["leaseq"].activity
    return store


@pytest.mark.parametrize("way", WAYS)
def test_what_was_given_back_can_be_undone_too(
    asking: leaseq.Queue, person: Browser, activity: Activity, way: str
) -> None:
    verb, texts, message = WAYS[way]
    if way == "failed for good":
        asking.configure(max_attempts=1)
    send(asking, person, take(asking, person), "finish", **ANSWER)
    asking.enqueue({"text": "more"}, id="three")
    lease = take(asking, person)
    fields = {"token": str(lease.token), **ANSWER, **texts}
    piece = person.post(path(asking, "items", lease.id, verb), fields, headers=PIECE)
    assert piece.status_code == 200
    assert message in html.unescape(piece.text)
    assert 'data-id="three"' in piece.text, "the next item comes with it"
    form = piece.text.partition('id="saved"')[2].partition("</form>")[0]
    response = person.post(path(asking, "items", lease.id, "undo"), hidden_fields(form), headers=PIECE)
    assert f'data-id="{lease.id}"' in response.text
    assert 'value="thanks"' in response.text, "what was typed is its draft"
    assert "Undone. You have the item again." in response.text
    assert 'id="saved"' not in response.text
    for text in {"note", "reason", "error"} & set(texts):
        box = re.search(rf'<textarea id="{text}"[^>]*>\n(.*)</textarea>', response.text)
        assert box is not None
        assert html.unescape(box[1]) == texts[text]
        assert "open" in response.text[: box.start()].rpartition("<details")[2].partition(">")[0]
    assert {one.id for one in asking.mine(person.name)} == {lease.id, "three"}
    assert asking.get(lease.id).failures == 0
    today = activity.today(person.name, asking.name)
    assert (today.finished, today.gave_back, today.broken) == (1, 0, 0)


def test_after_it_the_one_before_can_be_undone_no_more(asking: leaseq.Queue, person: Browser) -> None:
    """An undo beside "you gave it back" would take back the answer before."""
    first = take(asking, person)
    send(asking, person, first, "finish", **ANSWER)
    send(asking, person, take(asking, person), "abandon", again="yes")
    page = person.get(path(asking)).text
    assert path(asking, "items", "two", "undo") in page
    assert path(asking, "items", "one", "undo") not in page


def test_what_is_put_off_where_nothing_else_waits_comes_again(asking: leaseq.Queue, person: Browser) -> None:
    asking.remove("two")
    lease = take(asking, person)
    fields = {"token": str(lease.token), "again": "yes"}
    piece = person.post(path(asking, "items", "one", "abandon"), fields, headers=PIECE)
    assert 'data-id="one"' in piece.text
    assert "Nothing else waits for you: here it is again." in piece.text
    assert 'id="saved"' not in piece.text
    assert asking.mine(person.name)[0].token == lease.token + 1


def test_too_late_to_undo_what_was_given_back(timed_asking: Any, person: Browser) -> None:
    queue, expire = timed_asking
    lease = take(queue, person)
    send(queue, person, lease, "abandon", again="no")
    expire()
    fields = {"token": str(lease.token), "act": "never"}
    response = person.post(path(queue, "items", lease.id, "undo"), fields, headers=PIECE)
    assert (response.status_code, response.text) == (409, "It was too late to undo that.")
    assert queue.mine(person.name) == []


def test_what_somebody_else_has_meanwhile_is_not_taken_from_them(
    asking: leaseq.Queue, person: Browser, visitor: Callable[[str], Browser]
) -> None:
    asking.remove("two")
    lease = take(asking, person)
    send(asking, person, lease, "abandon", again="no")
    other = visitor("worker")
    take(asking, other)
    fields = {"token": str(lease.token), "act": "never"}
    response = person.post(path(asking, "items", lease.id, "undo"), fields, headers=PIECE)
    assert response.status_code == 409
    assert "the item has changed since" in response.text
    assert len(asking.mine(other.name)) == 1


def test_the_offer_is_only_for_who_finished_it(
    asking: leaseq.Queue, person: Browser, visitor: Callable[[str], Browser]
) -> None:
    """Somebody else at the same browser within ten seconds; and a browser that makes the offer up."""
    lease = take(asking, person)
    response = send(asking, person, lease, "finish", **ANSWER)
    (cookie,) = (one for one in response.headers.getlist("Set-Cookie") if one.startswith("leaseq-saved="))
    assert {"HttpOnly", "SameSite=Lax", "Max-Age=10"} <= set(cookie.split("; "))
    assert "Undo" in person.get(path(asking)).text
    other = visitor("worker")
    for offer in (cookie.partition("=")[2].partition(";")[0], "made/up", f"{other.name}/q/one/1//nan"):
        other.client.set_cookie("leaseq-saved", offer)
        assert "Undo" not in other.get(path(asking)).text


def test_what_cannot_be_undone_stands_and_says_so(
    asking: leaseq.Queue, person: Browser, visitor: Callable[[str], Browser]
) -> None:
    lease = take(asking, person)
    send(asking, person, lease, "finish", **ANSWER)
    undo(asking, visitor("worker"), lease)
    assert len(asking.get("one").answers) == 1, "it was somebody else's"
    asking.remove("one")
    assert undo(asking, person, lease).location == path(asking)
    assert "can't be undone any more" in html.unescape(person.get(path(asking)).text)
    response = undo(asking, person, lease, headers=PIECE)
    assert response.status_code == 409


def test_the_script_gets_the_next_item_alone_in_one_answer(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    response = send(asking, person, lease, "finish", **ANSWER)
    assert response.status_code == 303
    lease = take(asking, person)
    fields = {"csrf_token": person.csrf("/account"), "token": str(lease.token), "then": "next", **ANSWER}
    asking.enqueue({"text": "The third"}, id="three")
    piece = person.client.post(path(asking, "items", lease.id, "finish"), data=fields, headers=PIECE)
    assert piece.status_code == 200
    assert "The third" in piece.text
    assert 'id="now"' in piece.text
    assert "<html" not in piece.text
    (third_lease,) = asking.mine(person.name)
    fields = {**fields, "token": str(third_lease.token)}
    last_response = person.client.post(path(asking, "items", "three", "finish"), data=fields, headers=PIECE)
    assert (last_response.status_code, last_response.headers["X-Leaseq-Go"]) == (204, path(asking))


def test_the_next_item_in_a_piece_shows_what_they_hold_besides(asking: leaseq.Queue, person: Browser) -> None:
    """More than the policy allows: it allowed more before, or something was undone."""
    for id in ("three", "four", "five"):
        asking.enqueue({"text": f"The {id}"}, id=id)
    asking.configure(holds=3)
    leases = [asking.reserve(person.name) for _ in range(3)]
    asking.configure(holds=1)
    for lease, has_others in zip(leases, (1, 0, 0), strict=True):
        assert lease is not None
        fields = {"csrf_token": person.csrf("/account"), "token": str(lease.token), "then": "next", **ANSWER}
        piece = person.client.post(path(asking, "items", lease.id, "finish"), data=fields, headers=PIECE)
        assert ("Items you hold" in piece.text) == bool(has_others)


def test_the_draft_of_the_page_is_kept_as_it_was_typed(asking: leaseq.Queue, person: Browser) -> None:
    lease = take(asking, person)
    response = send(asking, person, lease, "draft", **{"answer.note": "so far", "answer.count": "4x"})
    assert response.status_code == 204
    assert asking.mine(person.name)[0].draft == {"note": "so far", "count": "4x"}


def test_who_is_signed_in_and_their_token(person: Browser) -> None:
    session = person.get("/work/session").get_json()
    assert session["person"] == person.name
    assert session["csrf"]


def test_sent_again_after_more_time_was_taken_it_is_undone_still(
    asking: leaseq.Queue, person: Browser
) -> None:
    """The answer to the first undo was lost; another tab of theirs asked for more time meanwhile."""
    lease = take(asking, person)
    send(asking, person, lease, "finish", **ANSWER)
    undo(asking, person, lease)
    (held_lease,) = asking.mine(person.name)
    assert send(asking, person, held_lease, "renew").status_code == 303
    response = undo(asking, person, lease)
    assert response.location == path(asking) + "?item=one"
    assert "Undone. Your answer is open again." in person.get(response.location).text
    assert [one.token for one in asking.mine(person.name)] == [held_lease.token]


def test_an_undo_of_long_ago_is_not_taken_for_one_whose_token_begins_alike(
    asking: leaseq.Queue, person: Browser
) -> None:
    first_lease = take(asking, person)
    for _ in range(10):
        asking.release("one")
        take(asking, person)
    last_lease = asking.mine(person.name)[0]
    assert str(last_lease.token).startswith(str(first_lease.token))
    send(asking, person, last_lease, "finish", **ANSWER)
    undo(asking, person, last_lease)
    undo(asking, person, first_lease)
    assert "can't be undone any more" in html.unescape(person.get(path(asking)).text)
