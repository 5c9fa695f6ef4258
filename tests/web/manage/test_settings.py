"""A queue's settings: saved, refused and merged."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.policy import FIELDS, GROUPS
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, elements, form_fields, text_of, texts
from tests.web.manage.settings_calls import base, save, settings_fields


def test_saving_unchanged_settings_changes_nothing(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    form_queue.configure(lease_seconds=5_400.5, renewals=3, keep_finished_seconds=86_400, bands=(10, 20))
    before, events = form_queue.policy, len(form_queue.journal())
    fields = settings_fields(manager_browser, form_queue)
    assert (fields["lease_seconds"], fields["lease_seconds.unit"]) == ("5400.5", "s")
    assert (fields["keep_finished_seconds"], fields["keep_finished_seconds.unit"]) == ("1", "d")
    assert save(manager_browser, form_queue, fields).location == f"/manage/{form_queue.name}"
    assert form_queue.policy == before
    assert len(form_queue.journal()) == events


@pytest.mark.parametrize("text", ["Be kind\n", "  Be kind", "Be kind\r\nand quick\r\n"])
def test_saving_a_setting_changes_no_text_that_nobody_changed(
    manager_browser: Browser, form_queue: leaseq.Queue, text: str
) -> None:
    form_queue.configure(instructions=text)
    events = form_queue.journal(limit=1_000)
    fields = settings_fields(manager_browser, form_queue)
    save(manager_browser, form_queue, fields, renewals="3")
    assert (form_queue.policy.instructions, form_queue.policy.renewals) == (text, 3)
    (event,) = form_queue.journal(limit=1_000)[len(events) :]
    assert "instructions" not in str(event)
    assert "Somebody else" not in manager_browser.get(f"/manage/{form_queue.name}").text


def test_each_setting_is_saved(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    changes = {
        "title": "Other",
        "instructions": "Be *kind*\r\n\r\nand quick",
        "form": "",
        "lease_seconds": "1 h 30 min",
        "renewals": "2",
        "holds": "3",
        "bands": "10, 20",
        "max_attempts": "5",
        "max_abandons": "4",
        "retry_seconds": "90",
        "retry_max_seconds": "0.5 h",
        "share_drafts": "yes",
        "answers": "2",
        "keep_finished_seconds": "30 d",
        "dedupe_seconds": "1m",
        "alerts": "oldest > 3600, waiting>500",
    }
    assert (
        save(manager_browser, form_queue, settings_fields(manager_browser, form_queue), **changes).status_code
        == 303
    )
    assert form_queue.policy == leaseq.Policy(
        title="Other",
        instructions="Be *kind*\n\nand quick",
        lease_seconds=5_400,
        renewals=2,
        holds=3,
        bands=(10, 20),
        max_attempts=5,
        max_abandons=4,
        retry_seconds=90,
        retry_max_seconds=1_800,
        share_drafts=True,
        answers=2,
        keep_finished_seconds=2_592_000,
        dedupe_seconds=60,
        alerts=("waiting>500", "oldest>3600"),
    )
    fields = settings_fields(manager_browser, form_queue)
    assert fields["alerts"] == "waiting>500 oldest>3600"
    del fields["share_drafts"]  # not ticked
    save(manager_browser, form_queue, {**fields, "renewals": "", "alerts": ""})
    assert (form_queue.policy.share_drafts, form_queue.policy.renewals, form_queue.policy.alerts) == (
        False,
        None,
        (),
    )


def test_duration_is_edited_as_number_and_unit(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    form_queue.configure(lease_seconds=5_400)
    fields = settings_fields(manager_browser, form_queue)
    assert (fields["lease_seconds"], fields["lease_seconds.unit"]) == ("90", "min")
    save(manager_browser, form_queue, {**fields, "lease_seconds": "2", "lease_seconds.unit": "h"})
    assert form_queue.policy.lease_seconds == 7_200
    save(
        manager_browser,
        form_queue,
        {**settings_fields(manager_browser, form_queue), "lease_seconds": "1 h 30 min"},
    )
    assert form_queue.policy.lease_seconds == 5_400, "typed units are used"
    response = save(
        manager_browser,
        form_queue,
        {**settings_fields(manager_browser, form_queue), "lease_seconds": "0", "lease_seconds.unit": "d"},
    )
    assert response.status_code == 400
    assert attribute(response.text, "#lease_seconds", "value") == "0"
    assert attribute(response.text, "[name='lease_seconds.unit'] > [selected]", "value") == "d"


def test_settings_page_shows_access(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    page = manager_browser.get(base(form_queue)).text
    assert "Everybody" in texts(page, "dd")
    fields = {"work": "some", "work.skills": "polish", "confirmed": "yes"}
    manager_browser.post(f"/manage/{form_queue.name}/access", fields)
    page = manager_browser.get(base(form_queue)).text
    assert "Skills: polish." in page
    assert f"/manage/{form_queue.name}/access" in page


def test_settings_page_has_each_policy_field_in_group_order(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    page = manager_browser.get(base(form_queue)).text
    groups = [address.removeprefix("#group-") for address in attributes(page, "a[href^='#group-']", "href")]
    assert groups == [*list(GROUPS)[:-1], "access", "advanced"]
    shown = attributes(page, "[id^='group-'], :is(input, textarea, select)[id]", "id")
    expected = [
        id
        for group in GROUPS
        for id in (f"group-{group}", *(f.name for f in FIELDS.values() if f.group == group))
    ]
    assert [id for id in shown if id in expected] == expected


def test_limits_units_and_help_are_those_of_the_policy(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    page = manager_browser.get(base(form_queue)).text
    for name, field in FIELDS.items():
        (text,) = texts(page, f"p.help#{name}-help")
        assert text.startswith(field.help), name
        assert (f"Empty: {field.none}." in text) is bool(field.none), name
    assert texts(page, "#holds-help")[0].endswith(" 1 to 100 items. Default: 1.")
    assert texts(page, "#lease_seconds-help")[0].endswith(" 0.1 s to 7 d. Default: 5 min.")
    assert attribute(page, "input#title", "maxlength") == "200"
    assert attribute(page, "input#renewals", "inputmode") == "numeric"
    german = manager_browser.get(base(form_queue), headers={"Accept-Language": "de"}).text
    assert "zugleich haben darf. 1 bis 100 Aufgaben. " in german
    assert "0 bis 1.000.000 Mal. Leer: kein Limit.</p>" in german
    assert "Je 0 bis 999.999.999.</p>" in german


@pytest.mark.parametrize(("title", "message"), [("New", "Saved."), ("Same", "No setting was different.")])
def test_save_reports_whether_settings_changed(
    manager_browser: Browser, form_queue: leaseq.Queue, title: str, message: str
) -> None:
    form_queue.configure(title="Same")
    assert (
        save(
            manager_browser, form_queue, settings_fields(manager_browser, form_queue), title=title
        ).status_code
        == 303
    )
    assert message in texts(manager_browser.get("/account").text, "p")


def test_invalid_number_is_refused_with_example(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    response = save(
        manager_browser, form_queue, settings_fields(manager_browser, form_queue), max_attempts="three"
    )
    assert "such as 42" in response.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lease_seconds", "long"),
        ("lease_seconds", "5 min 3"),
        ("lease_seconds", "0"),
        ("lease_seconds", ""),
        ("max_attempts", "2.5"),
        ("bands", "1"),
        ("bands", "2 1"),
        ("form", "{"),
        ("form", '{"ask": {"type": "string"}}'),
        ("form", "[" * 3_000),
        ("form", '{"ask": {"type": "object", "$ref": "https://evil.example/"}}'),
        ("renewals", "-1"),
        ("durable", "never"),
        ("title", "x" * 201),
        ("alerts", "waiting"),
        ("alerts", "waiting>00"),
        ("alerts", "waiting>1 waiting>2"),
        ("alerts", "late>5"),
    ],
)
def test_invalid_settings_are_refused_and_form_keeps_input(
    manager_browser: Browser, form_queue: leaseq.Queue, name: str, text: str
) -> None:
    before = form_queue.policy
    fields = settings_fields(manager_browser, form_queue) | {
        "instructions": "Typed <long>",
        "retry_seconds": "7",
        name: text,
    }
    response = save(manager_browser, form_queue, fields)
    assert response.status_code == 400
    assert elements(response.text, f"a[href='#{name}']")
    returned_fields = form_fields(response.text, "settings")
    assert returned_fields["instructions"] == "Typed <long>"
    assert returned_fields["retry_seconds"] == "7"
    assert name == "durable" or returned_fields[name] == text
    assert form_queue.policy == before


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ('{\n  "show": ["a"],\n}', "Line 2: There is a comma before the closing bracket."),
        ('{"show": [\n  "a",\n  {"field": "b", "kind": "picture"}]}', "Line 3: 'picture' is not known here"),
        ('{"show": [], "show": []}', "Form</a>: expected each key once in an object"),
    ],
)
def test_invalid_form_is_refused_with_line_number(
    manager_browser: Browser, form_queue: leaseq.Queue, form: str, message: str
) -> None:
    response = save(manager_browser, form_queue, settings_fields(manager_browser, form_queue), form=form)
    assert response.status_code == 400
    assert message in html.unescape(response.text.partition('<form id="settings"')[0])


def test_concurrent_changes_are_merged_or_conflict_is_shown(
    manager_browser: Browser, sign_in_as: Callable[[str], Browser], form_queue: leaseq.Queue
) -> None:
    other = sign_in_as("manager")
    my_fields, their_fields = settings_fields(manager_browser, form_queue), settings_fields(other, form_queue)
    save(other, form_queue, their_fields, title="Theirs", holds="2")
    response = save(manager_browser, form_queue, my_fields, answers="3")
    assert (form_queue.policy.title, form_queue.policy.holds, form_queue.policy.answers) == ("Theirs", 2, 3)
    assert "their values are kept: Title, Items at once." in manager_browser.get(response.location).text
    conflict = save(manager_browser, form_queue, my_fields, title="Mine", max_attempts="9")
    assert conflict.status_code == 409
    differences = elements(conflict.text, "dt:has(+ dd > pre)")
    assert [text_of(node).replace(" ,", ",") for node in differences] == [
        "Title, theirs",
        "Title, yours",
        "Items at once, theirs",
        "Answers, theirs",
    ]
    assert texts(conflict.text, "dt + dd > pre") == ["Theirs", "Mine", "2", "3"]
    assert (form_queue.policy.title, form_queue.policy.max_attempts) == ("Theirs", 3)
    merged_fields = form_fields(conflict.text, "settings")
    assert (merged_fields["title"], merged_fields["max_attempts"]) == ("Mine", "9")
    assert save(manager_browser, form_queue, merged_fields).status_code == 303
    assert (form_queue.policy.title, form_queue.policy.max_attempts, form_queue.policy.holds) == (
        "Mine",
        9,
        2,
    )


@pytest.mark.parametrize(("their_changes", "status"), [({"title": "Theirs"}, 409), ({"holds": 2}, 303)])
def test_simultaneous_save_does_not_overwrite_other_change(
    manager_browser: Browser,
    form_queue: leaseq.Queue,
    monkeypatch: pytest.MonkeyPatch,
    their_changes: dict[str, Any],
    status: int,
) -> None:
    """The other change comes between reading the policy and saving mine."""
    my_fields, configure = settings_fields(manager_browser, form_queue), leaseq.Queue.configure

    def meanwhile(self: leaseq.Queue, **changes: Any) -> leaseq.Policy:
        monkeypatch.undo()
        configure(form_queue, **their_changes)
        return configure(self, **changes)

    monkeypatch.setattr(leaseq.Queue, "configure", meanwhile)
    response = save(manager_browser, form_queue, my_fields, title="Mine")
    assert response.status_code == status
    assert {name: getattr(form_queue.policy, name) for name in their_changes} == their_changes
    assert (form_queue.policy.title == "Mine") is (status == 303)
    if status == 409:
        assert form_fields(response.text, "settings")["title"] == "Mine"
