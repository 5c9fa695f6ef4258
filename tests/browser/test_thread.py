"""A person asks about an item and a manager answers; the typed answer is kept."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

import leaseq
from tests.browser.accessibility import check_accessibility
from tests.browser.sessions import sign_in

WORDS = "half of an answer"


def test_a_question_is_asked_and_answered_while_the_person_works(
    tab: Page, person: str, manager: str, letters: leaseq.Queue, chromium: Browser, address: str
) -> None:
    sign_in(tab, person)
    tab.goto(f"/q/{letters.name}")
    with tab.expect_response("**/live?token=*"):
        tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_role("button", name="Keys")).to_be_visible()
    tab.get_by_label("Your answer").press_sequentially(WORDS)
    tab.keyboard.press("Escape")
    tab.keyboard.press("a")
    tab.keyboard.type("Which of the two?")
    tab.keyboard.press("Control+Enter")
    thread = tab.get_by_role("region", name="Questions and answers")
    expect(thread.get_by_text("Which of the two?")).to_be_visible()
    expect(tab.get_by_label("What do you want to ask your manager?")).to_be_hidden()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    check_accessibility(tab)
    manager_tab = chromium.new_page(base_url=address)
    answer_on_the_dashboard(manager_tab, manager, letters)
    note = tab.get_by_role("status").filter(has_text="Your manager answered.")
    expect(note).to_be_visible()
    note.get_by_role("button", name="Read it").click()
    expect(thread).to_be_focused()
    expect(thread.get_by_text("The blue one.")).to_be_visible()
    expect(note).to_be_hidden()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    check_accessibility(tab)
    tab.reload()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    expect(thread.get_by_text("The blue one.")).to_be_visible()
    tab.get_by_role("button", name="Finish and next").click()
    expect(thread).to_have_count(0)
    manager_tab.close()


def answer_on_the_dashboard(manager_tab: Page, manager: str, queue: leaseq.Queue) -> None:
    sign_in(manager_tab, manager)
    manager_tab.goto(f"/manage/{queue.name}")
    card = manager_tab.get_by_role("listitem").filter(has_text="1 question")
    expect(card.get_by_text("Which of the two?")).to_be_visible()
    check_accessibility(manager_tab)
    card.get_by_role("link", name="Answer").click()
    manager_tab.get_by_role("link", name="Answer it").click()
    manager_tab.get_by_label("Your answer").fill("The blue one.")
    manager_tab.get_by_role("button", name="Send").click()
    expect(manager_tab.get_by_text("Your message is sent.")).to_be_visible()
    check_accessibility(manager_tab)
    manager_tab.goto(f"/manage/{queue.name}")
    expect(manager_tab.get_by_text("Which of the two?")).to_be_hidden()


@pytest.mark.parametrize(
    ("key", "box", "words"),
    [
        ("a", "What do you want to ask your manager?", "Type your question."),
        ("b", "What is wrong with it?", "Describe the problem."),
    ],
)
def test_empty_question_or_report_is_refused_and_its_box_stays_open(
    tab: Page, person: str, letters: leaseq.Queue, key: str, box: str, words: str
) -> None:
    sign_in(tab, person)
    tab.goto(f"/q/{letters.name}")
    tab.get_by_role("button", name="Next item").click()
    expect(tab.get_by_role("button", name="Keys")).to_be_visible()
    tab.get_by_label("Your answer").fill(WORDS)
    tab.keyboard.press("Escape")
    tab.keyboard.press(key)
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text(words)).to_be_visible()
    expect(tab.get_by_label(box)).to_be_focused()
    expect(tab.get_by_label("Your answer")).to_have_value(WORDS)
    check_accessibility(tab)
