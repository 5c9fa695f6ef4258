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
from tests.web.manage.settings_calls import base, change, save, settings_fields


def test_saving_unchanged_settings_changes_nothing(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    form_queue.configure(lease_seconds=5_400.5, renewals=3, keep_finished_seconds=86_400, bands=(10, 20))
    before, events = form_queue.policy, len(form_queue.journal())
    times, keeping = (settings_fields(manager_browser, form_queue, name) for name in ("time", "keeping"))
    assert (times["lease_seconds"], times["lease_seconds.unit"]) == ("5400.5", "s")
    assert (keeping["keep_finished_seconds"], keeping["keep_finished_seconds.unit"]) == ("1", "d")
    for section in GROUPS:
        assert change(manager_browser, form_queue, section).status_code == 303
    assert form_queue.policy == before
    assert len(form_queue.journal()) == events


@pytest.mark.parametrize("text", ["Be kind\n", "  Be kind", "Be kind\r\nand quick\r\n"])
def test_saving_a_setting_changes_no_text_that_nobody_changed(
    manager_browser: Browser, form_queue: leaseq.Queue, text: str
) -> None:
    form_queue.configure(instructions=text)
    events = form_queue.journal(limit=1_000)
    fields = settings_fields(manager_browser, form_queue)
    save(manager_browser, form_queue, fields, title="New")
    assert (form_queue.policy.instructions, form_queue.policy.title) == (text, "New")
    (event,) = form_queue.journal(limit=1_000)[len(events) :]
    assert "instructions" not in str(event)
    assert "Somebody else" not in manager_browser.get(f"/manage/{form_queue.name}").text


CHANGES: dict[str, dict[str, str]] = {
    "work": {"title": "Other", "instructions": "Be *kind*\r\n\r\nand quick", "form": ""},
    "time": {"lease_seconds": "1 h 30 min", "renewals": "2", "holds": "3"},
    "retries": {
        "max_attempts": "5",
        "max_abandons": "4",
        "retry_seconds": "90",
        "retry_max_seconds": "0.5 h",
        "share_drafts": "yes",
    },
    "answers": {"answers": "2"},
    "keeping": {"keep_finished_seconds": "30 d", "dedupe_seconds": "1m"},
    "advanced": {
        "bands": "10, 20",
        "alerts.waiting": " 500 ",
        "alerts.oldest": "1",
        "alerts.oldest.unit": "h",
        "alerts.idle": "2 min",
    },
}


def test_each_setting_is_saved_by_its_section(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    assert list(CHANGES) == list(GROUPS)
    for section, changes in CHANGES.items():
        response = change(manager_browser, form_queue, section, **changes)
        assert (response.status_code, response.location) == (303, base(form_queue, section))
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
        alerts=("waiting>500", "oldest>3600", "idle>120"),
    )
    retries = settings_fields(manager_browser, form_queue, "retries")
    del retries["share_drafts"]  # not ticked
    save(manager_browser, form_queue, retries, "retries", max_abandons="")
    assert (form_queue.policy.share_drafts, form_queue.policy.max_abandons) == (False, None)


def test_alert_rule_is_a_row_with_its_unit(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    form_queue.configure(alerts=("waiting>500", "oldest>5400"))
    fields = settings_fields(manager_browser, form_queue, "advanced")
    shown = {name: value for name, value in fields.items() if name.startswith("alerts.") and value}
    assert (shown["alerts.waiting"], shown["alerts.oldest"], shown["alerts.oldest.unit"]) == (
        "500",
        "90",
        "min",
    )
    events = len(form_queue.journal())
    save(manager_browser, form_queue, fields, "advanced")
    assert len(form_queue.journal()) == events, "nothing was different"
    save(manager_browser, form_queue, fields, "advanced", **{"alerts.waiting": "", "alerts.unreachable": "0"})
    assert form_queue.policy.alerts == ("oldest>5400", "unreachable>0")
    page = change(manager_browser, form_queue, "advanced", **{"alerts.waiting": "many"}).text
    assert attribute(page, "[name='alerts.waiting']", "value") == "many"
    assert elements(page, "[role=group][aria-invalid] #alerts-error")


def test_saving_one_section_changes_no_other(
    manager_browser: Browser, sign_in_as: Callable[[str], Browser], form_queue: leaseq.Queue
) -> None:
    other = sign_in_as("manager")
    mine = settings_fields(manager_browser, form_queue, "retries")
    change(other, form_queue, "time", holds="2")
    stray = {"holds": "9", "title": "Stray", "was.holds": "1"}
    response = save(manager_browser, form_queue, {**mine, **stray}, "retries", max_attempts="9")
    assert response.status_code == 303
    policy = form_queue.policy
    assert (policy.holds, policy.max_attempts, policy.title) == (2, 9, "Triage")
    assert "Somebody else" not in manager_browser.get(response.location).text
    assert manager_browser.get(base(form_queue, "no-such")).status_code == 404


def test_duration_is_edited_as_number_and_unit(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    form_queue.configure(lease_seconds=5_400)
    fields = settings_fields(manager_browser, form_queue, "time")
    assert (fields["lease_seconds"], fields["lease_seconds.unit"]) == ("90", "min")
    change(manager_browser, form_queue, "time", **{"lease_seconds": "2", "lease_seconds.unit": "h"})
    assert form_queue.policy.lease_seconds == 7_200
    change(manager_browser, form_queue, "time", lease_seconds="1 h 30 min")
    assert form_queue.policy.lease_seconds == 5_400, "typed units are used"
    zero = {"lease_seconds": "0", "lease_seconds.unit": "d"}
    response = change(manager_browser, form_queue, "time", **zero)
    assert response.status_code == 400
    assert attribute(response.text, "#lease_seconds", "value") == "0"
    assert attribute(response.text, "[name='lease_seconds.unit'] > [selected]", "value") == "d"


def test_each_section_has_the_fields_of_its_group(manager_browser: Browser, form_queue: leaseq.Queue) -> None:
    for section in GROUPS:
        page = manager_browser.get(base(form_queue, section)).text
        sections = attributes(page, ".settings-index a", "data-section-link")
        assert sections == [*list(GROUPS)[:-1], "access", "advanced"]
        assert attributes(page, ".settings-index [aria-current]", "data-section-link") == [section]
        ids = attributes(page, ".setting [id]", "id") + attributes(page, ".setting[id]", "id")
        shown = [name for name in FIELDS if name in ids]
        assert shown == [name for name, field in FIELDS.items() if field.group == section], section
    page = manager_browser.get(f"/manage/{form_queue.name}/access").text
    assert attributes(page, ".settings-index [aria-current]", "data-section-link") == ["access"]
    advanced = manager_browser.get(base(form_queue, "advanced")).text
    assert form_queue.name in texts(advanced, ".setting .id"), "the name for programs"


def test_help_default_and_unit_are_those_of_the_policy(
    manager_browser: Browser, form_queue: leaseq.Queue
) -> None:
    page = "".join(manager_browser.get(base(form_queue, section)).text for section in GROUPS)
    for name, field in FIELDS.items():
        (text,) = texts(page, f"p.help#{name}-help")
        assert text.startswith(field.help), name
    expected = {
        "holds": "1",
        "lease_seconds": "5 min",
        "renewals": "no limit",
        "share_drafts": "off",
        "durable": "accepted by the server",
    }
    for name, default in expected.items():
        assert texts(page, f"#{name}-help")[0].endswith(f" Default: {default}."), name
    assert attribute(page, "input#title", "maxlength") == "200"
    assert attribute(page, "input#renewals", "inputmode") == "numeric"
    assert attribute(page, "input#renewals", "placeholder") == "no limit"
    german = manager_browser.get(base(form_queue, "time"), headers={"Accept-Language": "de"}).text
    assert texts(german, "#renewals-help")[0].endswith("kein Limit.")


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
    response = change(manager_browser, form_queue, "retries", max_attempts="three")
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
        ("alerts.waiting", "many"),
        ("alerts.oldest", "1.5"),
        ("alerts.oldest", "5 min 3"),
        ("alerts.idle", "9999999999"),
    ],
)
def test_invalid_settings_are_refused_and_form_keeps_input(
    manager_browser: Browser, form_queue: leaseq.Queue, name: str, text: str
) -> None:
    before, setting = form_queue.policy, name.partition(".")[0]
    section = FIELDS[setting].group
    others = {
        "work": ("instructions", "Typed <long>"),
        "retries": ("retry_seconds", "7"),
        "time": ("holds", "7"),
    }
    other, typed = others.get(section, (name, text))
    fields = settings_fields(manager_browser, form_queue, section) | {other: typed, name: text}
    response = save(manager_browser, form_queue, fields, section)
    assert response.status_code == 400
    assert elements(response.text, f"a[href='#{setting}']")
    assert elements(response.text, f"#{setting}[aria-invalid=true]")
    returned_fields = form_fields(response.text, "settings")
    assert name == "durable" or returned_fields[name] == text
    assert name in (other, "durable") or returned_fields[other] == typed
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
    mine, theirs = (settings_fields(browser, form_queue, "time") for browser in (manager_browser, other))
    save(other, form_queue, theirs, "time", renewals="7")
    response = save(manager_browser, form_queue, mine, "time", holds="3")
    assert (form_queue.policy.renewals, form_queue.policy.holds) == (7, 3)
    assert "their values are kept: More time." in manager_browser.get(response.location).text
    both = {"renewals": "8", "lease_seconds": "9", "lease_seconds.unit": "min"}
    conflict = save(manager_browser, form_queue, mine, "time", **both)
    assert conflict.status_code == 409
    differences = elements(conflict.text, "dt:has(+ dd > pre)")
    assert [text_of(node).replace(" ,", ",") for node in differences] == [
        "More time, theirs",
        "More time, yours",
        "Items at once, theirs",
    ]
    assert texts(conflict.text, "dt + dd > pre") == ["7", "8", "3"]
    assert (form_queue.policy.renewals, form_queue.policy.lease_seconds) == (7, 60)
    merged_fields = form_fields(conflict.text, "settings")
    assert (merged_fields["renewals"], merged_fields["lease_seconds"]) == ("8", "9")
    assert save(manager_browser, form_queue, merged_fields, "time").status_code == 303
    policy = form_queue.policy
    assert (policy.renewals, policy.lease_seconds, policy.holds) == (8, 540, 3)


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
