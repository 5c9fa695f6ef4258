"""Import in a browser: file choice, preview, columns, upload and reload."""

from __future__ import annotations

import re
import secrets
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from playwright.sync_api import Page, Route, expect

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.browser.accessibility import check_accessibility, check_width
from tests.browser.conftest import PASSWORD
from tests.browser.sessions import sign_in
from tests.transfer import corpus

ROWS = 3_000


@pytest.fixture
def import_page(tab: Page, accounts: Accounts, queue: leaseq.Queue) -> Page:
    queue.configure(title="Triage")
    manager = accounts.add(f"boss of {queue.name}", by="test", role="manager", password=PASSWORD).name
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/import")
    return tab


def test_buttons_after_an_import_are_near_though_many_rows_were_skipped(
    import_page: Page, queue: leaseq.Queue, tmp_path: Path
) -> None:
    tab, file = import_page, tmp_path / "rows.csv"
    file.write_text("\n".join(["id,text", *(f"{n % 2},text {n}" for n in range(150))]))
    tab.set_viewport_size({"width": 320, "height": 640})
    tab.get_by_label("File").set_input_files(file)
    tab.get_by_label("Id", exact=True).select_option("id")
    tab.get_by_role("button", name="Import 150 rows").click()
    for _ in range(2):
        rows = tab.get_by_role("list", name="Skipped rows")
        expect(rows.get_by_role("listitem")).to_have_count(100)
        assert rows.evaluate("list => list.clientHeight") < 320
        expect(tab.get_by_role("link", name="To the queue")).to_be_visible()
        check_accessibility(tab)
        tab.goto(tab.url)  # the page of the import, and not the one that sent it
    assert queue.stats().inbound == 2


def test_file_is_previewed_and_imported_and_outcome_survives_reload(
    import_page: Page, queue: leaseq.Queue, tmp_path: Path
) -> None:
    tab, file = import_page, tmp_path / "rows.csv"
    lines = [f"r{number},text {number} {'and so on ' * 10},{number % 100}" for number in range(ROWS)]
    file.write_text("\n".join(["nr,text,urgency", *lines, "bad,text,high"]))
    tab.get_by_label("File").set_input_files(file)
    expect(tab.get_by_role("region", name="The first rows")).to_contain_text("text 3")
    next_button = tab.get_by_role("button", name="Next")
    next_button.press("Enter")
    expect(tab.get_by_text("6 to 10 of 200.")).to_be_visible()
    expect(next_button).to_be_focused()
    tab.get_by_label("Id", exact=True).select_option("nr")
    tab.get_by_label("Priority").select_option("urgency")
    tab.get_by_role("group", name="What people see").get_by_label("urgency").uncheck()
    expect(tab.get_by_label("Priority")).to_have_value("urgency")
    check_accessibility(tab)
    tab.get_by_role("button", name="Check the whole file").press("Enter")
    expect(tab.get_by_text(f"{ROWS:,} rows can be imported.")).to_be_visible()
    expect(tab.get_by_text(f"Line {ROWS + 2:,}: urgency: expected a whole number")).to_be_visible()
    expect(tab.locator("#check-result")).to_be_focused()
    check_accessibility(tab)
    tab.get_by_label("Priority").select_option("")
    expect(tab.get_by_text("rows can be imported.")).to_be_hidden()  # the choices changed
    tab.get_by_label("Priority").select_option("urgency")
    tab.get_by_role("button", name="Check the whole file").click()
    expect(tab.get_by_role("button", name=f"Import {ROWS:,} rows")).to_be_visible()
    assert queue.stats().inbound == 0
    tab.get_by_role("button", name="Import").press("Enter")
    expect(tab.get_by_role("region", name="Importing")).to_be_focused()
    outcome = f"{ROWS:,} added, 0 duplicates, 1 skipped."
    expect(tab.locator("#state:not([aria-busy])")).to_contain_text(outcome)
    expect(tab).to_have_url(re.compile(r"/import/[\w-]{16}$"))
    tab.reload()
    expect(tab.get_by_text(outcome)).to_be_visible()
    expect(tab.get_by_text(f"Line {ROWS + 2:,}: urgency: expected a whole number")).to_be_visible()
    check_accessibility(tab)
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download skipped rows").click()
    assert "bad,text,high" in Path(download.value.path()).read_text()
    item = queue.get("r7")
    assert (item.payload["nr"], set(item.payload), item.priority) == ("r7", {"nr", "text"}, 7)


@pytest.fixture
def large_file(import_page: Page, tmp_path: Path) -> Path:
    """A chosen file that is too large to be checked with its preview: some of its rows have no number."""
    file = tmp_path / "large.csv"
    lines = [f"r{number},{'and so on ' * 10},{number % 100 or ''}" for number in range(ROWS)]
    file.write_text("\n".join(["nr,text,urgency", *lines, "bad,text,high"]))
    import_page.get_by_label("File").set_input_files(file)
    expect(import_page.get_by_role("region", name="The first rows")).to_contain_text("r3")
    return file


def hold(tab: Page, path: str) -> list[Route]:
    """Hold the next request to this path, until the test lets it go on; later ones go on by themselves."""
    held: list[Route] = []
    tab.route(path, lambda route: route.continue_() if held else held.append(route))
    return held


def wait_until_held(tab: Page, held: list[Route]) -> None:
    while not held:
        tab.wait_for_timeout(20)  # the test's own limit ends this


@pytest.mark.usefixtures("large_file")
def test_check_that_is_pressed_before_the_preview_is_there_shows_its_result(import_page: Page) -> None:
    tab = import_page
    held_preview, held_check = hold(tab, "**/import/preview"), hold(tab, "**/check")
    tab.get_by_label("Priority").select_option("urgency")
    wait_until_held(tab, held_preview)
    tab.get_by_role("button", name="Check the whole file").click()
    tab.wait_for_timeout(500)  # a check that does not wait for the preview begins now
    with tab.expect_response("**/import/preview"):
        held_preview[0].continue_()
    wait_until_held(tab, held_check)
    held_check[0].continue_()
    expect(tab.get_by_text(f"{ROWS:,} rows can be imported.")).to_be_visible()
    expect(tab.get_by_text(f"Line {ROWS + 2:,}: urgency: expected a whole number")).to_be_visible()
    expect(tab.get_by_label("Priority")).to_have_value("urgency")


@pytest.mark.usefixtures("large_file")
def test_choice_that_changes_after_the_press_discards_the_check(import_page: Page) -> None:
    tab = import_page
    held = hold(tab, "**/import/jobs")
    tab.get_by_role("button", name="Check the whole file").click()
    wait_until_held(tab, held)
    with tab.expect_response("**/import/preview"), tab.expect_response("**/import/jobs"):
        tab.get_by_label("Priority").select_option("urgency")
        held[0].continue_()
    expect(tab.get_by_text("rows can be imported.")).to_have_count(0)
    tab.get_by_role("button", name="Check the whole file").click()
    expect(tab.get_by_text(f"Line {ROWS + 2:,}: urgency: expected a whole number")).to_be_visible()


@pytest.mark.usefixtures("large_file")
def test_result_of_a_check_is_not_kept_for_other_choices_by_paging(import_page: Page) -> None:
    tab = import_page
    tab.get_by_role("button", name="Check the whole file").click()
    expect(tab.get_by_text(f"{ROWS + 1:,} rows can be imported.")).to_be_visible()
    held = hold(tab, "**/import/preview")
    tab.get_by_role("button", name="Next").click()
    wait_until_held(tab, held)
    with tab.expect_response("**/import/preview"):
        tab.get_by_label("Priority").select_option("urgency")
    expect(tab.get_by_role("button", name="Check the whole file")).to_be_visible()
    with tab.expect_response("**/import/preview"):
        held[0].continue_()
    expect(tab.get_by_text("6 to 10 of 200.")).to_be_visible()
    expect(tab.get_by_role("button", name="Check the whole file")).to_be_visible()
    expect(tab.get_by_text("rows can be imported.")).to_have_count(0)


def test_dropped_file_that_is_not_utf8_is_reported(import_page: Page, queue: leaseq.Queue) -> None:
    tab = import_page
    tab.locator("#drop-zone").evaluate(
        """(place) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array([97, 10, 0xe4, 10])], "rows.csv"));
          place.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(tab.get_by_text("Line 2: not UTF-8 text")).to_be_visible()
    expect(tab.get_by_label("File")).to_have_value(re.compile("rows.csv"))


def test_unbalanced_quotes_are_reported_and_quote_mode_can_be_chosen(
    import_page: Page, queue: leaseq.Queue, tmp_path: Path
) -> None:
    tab, file = import_page, tmp_path / "sms.tsv"
    file.write_bytes(corpus.table(['ham\t"said"', 'spam\t"x', "ham\tplain"]))
    tab.get_by_label("File").set_input_files(file)
    remark = tab.get_by_text("Line 3: a field begins with a quote and does not end with one")
    expect(remark).to_be_visible()
    quotes = tab.get_by_label("Double quotes")
    expect(quotes).to_have_value("auto")
    quotes.focus()
    quotes.select_option("Around fields")
    expect(tab.get_by_text("Choose “Text” for double quotes.")).to_be_visible()
    expect(quotes).to_be_focused()
    check_accessibility(tab)
    quotes.select_option("Text")
    expect(tab.get_by_role("region", name="The first rows")).to_contain_text('"said"')
    tab.get_by_role("button", name="Import").click()
    expect(tab.get_by_text("3 added, 0 duplicates, 0 skipped.")).to_be_visible()
    assert [item.payload["text"] for item in queue.items("inbound")] == ['"said"', '"x', "plain"]


def test_import_without_javascript_checks_then_imports_with_same_choices(
    plain_tab: Page, manager: str, queue: leaseq.Queue, tmp_path: Path
) -> None:
    queue.configure(title="Triage")
    tab, file = plain_tab, tmp_path / "rows.csv"
    file.write_text("nr;a\n7;1\n8\n")
    sign_in(tab, manager)
    tab.goto(f"/manage/{queue.name}/import")
    expect(tab.get_by_text("You can drop it here.")).to_be_hidden()
    tab.get_by_label("Separator").select_option("semicolons")
    tab.get_by_label("Take the id from the column").fill("nr")
    for tick in (False, True):
        tab.get_by_label("File", exact=True).set_input_files(file)
        if tick:
            tab.get_by_role("checkbox", name="Import the other rows").check()
        else:
            expect(tab.get_by_role("checkbox", name="Import the other rows")).to_have_count(0)
        tab.get_by_role("button", name="Import", exact=True).click()
    expect(tab.get_by_text("1 added, 0 duplicates, 1 skipped.")).to_be_visible()
    assert [item.id for item in queue.items("inbound")] == ["7"]


def test_each_choice_that_a_spreadsheet_needs_is_offered(
    import_page: Page, queue: leaseq.Queue, tmp_path: Path
) -> None:
    tab, file = import_page, tmp_path / "rows.csv"
    file.write_bytes(
        "Our sites,,,\n,,,\nid,name,priority,open\n1,Café,High,True\n2,b,Low,False\n".encode("cp1252")
    )
    tab.get_by_label("File", exact=True).set_input_files(file)
    expect(tab.get_by_text("the header is taken from line 3")).to_be_visible()
    expect(tab.get_by_text("not UTF-8").first).to_be_visible()
    expect(tab.locator("#role-priority")).to_have_value("")
    tab.get_by_label("Encoding").select_option("cp1252")
    expect(tab.get_by_role("button", name="Import 2 rows")).to_be_visible()
    tab.get_by_text("Cells: text or values").click()
    check_accessibility(tab)
    check_width(tab)
    tab.get_by_role("button", name="Import 2 rows").click()
    expect(tab.locator("#state:not([aria-busy])")).to_contain_text("2 added")
    assert queue.get("1").payload == {"id": "1", "name": "Café", "priority": "High", "open": True}


def test_person_with_a_spreadsheet_imports_its_first_sheet(
    import_page: Page, queue: leaseq.Queue, tmp_path: Path
) -> None:
    tab, file = import_page, tmp_path / "orders.xlsx"
    book = openpyxl.Workbook()
    for row in (
        ["order", "text", "amount", "paid", "until"],
        ["0017", "=late?", 12.5, True, date(2026, 12, 1)],
        ["0018", "ünï", 3, False, None],
        ["0019", "z", 4, True, "soon"],
    ):
        book.worksheets[0].append(row)
    book.worksheets[0]["B2"].data_type = "s"
    book.worksheets[0].title = "Orders"
    book.create_sheet("Prices")
    book.save(file)
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(file.read_bytes()[:3_000])
    tab.get_by_label("File", exact=True).set_input_files(broken)
    expect(tab.locator("#file-preview .error")).to_contain_text("save it as xlsx or CSV")
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 40_000_000)
    tab.get_by_label("File", exact=True).set_input_files(bomb)
    expect(tab.locator("#file-preview .error")).to_contain_text("save the sheet as CSV")
    tab.get_by_label("File", exact=True).set_input_files(file)
    expect(tab.get_by_text("Sheet 1 of 2 is read: “Orders”.")).to_be_visible()
    expect(tab.get_by_role("region", name="The first rows")).to_contain_text("0017")
    expect(tab.get_by_label("Separator")).to_have_count(0)
    tab.get_by_label("Id", exact=True).select_option("order")
    tab.get_by_label("Due", exact=True).select_option("until")
    expect(tab.get_by_text("Line 4: until")).to_be_visible()
    tab.get_by_text("Cells: text or values").click()
    tab.get_by_label("amount").last.select_option("Text")
    expect(tab.get_by_text("2 rows can be imported.")).to_be_visible()
    check_accessibility(tab)
    tab.get_by_role("button", name="Import 2 rows").click()
    expect(tab.locator("#state:not([aria-busy])")).to_contain_text("2 added, 0 duplicates, 1 skipped.")
    first, second = queue.get("0017"), queue.get("0018")
    assert first.payload == {
        "order": "0017", "text": "=late?", "amount": "12.5", "paid": True, "until": "2026-12-01",
    }  # fmt: skip
    assert second.payload == {"order": "0018", "text": "ünï", "amount": "3", "paid": False, "until": ""}
    assert first.due is not None
    assert second.due is None


PRIORITY_WORDS = "id,text,priority,due\n1,a,High,31/12/2026\n2,b,Low,12/31/2026\n"


@pytest.fixture
def words_file(tmp_path: Path) -> Path:
    """A file whose queue has a name of its own."""
    file = tmp_path / f"words-{secrets.token_hex(4)}.csv"
    file.write_text(PRIORITY_WORDS)
    return file


def check_created(tab: Page, queue: leaseq.Queue, *priorities: int) -> None:
    expect(tab.get_by_text("2 added, 0 duplicates, 0 skipped.")).to_be_visible()
    items = list(queue.items("inbound"))
    assert [(item.id, item.payload["priority"], item.priority, item.due) for item in items] == [
        ("1", "High", priorities[0], None),
        ("2", "Low", priorities[1], None),
    ]
    tab.get_by_role("link", name="Next: add your questions").click()
    expect(tab).to_have_url(re.compile(f"/manage/{queue.name}/settings$"))


def test_queue_is_created_from_a_file_after_its_preview(
    tab: Page, manager: str, words_file: Path, server: Any
) -> None:
    created = leaseq.Queue(server.client, words_file.stem)
    sign_in(tab, manager)
    tab.goto("/manage")
    tab.get_by_role("link", name="Create from file").click()
    tab.get_by_label("File", exact=True).set_input_files(words_file)
    expect(tab.get_by_text("it has words such as “High”")).to_be_visible()
    expect(tab.get_by_text("not taken for due dates")).to_be_visible()
    expect(tab.get_by_text("Nothing is made yet.")).to_be_visible()
    tab.get_by_label("Id", exact=True).select_option("")
    tab.get_by_label("Id", exact=True).select_option("id")
    expect(tab.get_by_text("it has words such as “High”")).to_be_visible()
    check_accessibility(tab)
    check_width(tab)
    tab.locator("[data-choose=role-priority]").press("Enter")
    expect(tab.get_by_label("High")).to_have_value("30")
    expect(tab.locator("#role-priority")).to_be_focused()
    assert not created.exists()
    tab.get_by_role("button", name="Create queue and import 2 rows").click()
    expect(tab.locator("#state:not([aria-busy])")).to_contain_text("2 added")
    assert created.policy.title == words_file.stem
    check_accessibility(tab)
    check_created(tab, created, 30, 200)


def test_queue_is_created_by_keys_from_a_file_without_a_header(
    tab: Page, manager: str, words_file: Path, server: Any
) -> None:
    created = leaseq.Queue(server.client, words_file.stem)
    words_file.write_text("Where is it?,High,007\nOdd,Low,008\nHello,High,009\n")
    sign_in(tab, manager)
    tab.goto("/new-queue")
    tab.get_by_label("File", exact=True).set_input_files(words_file)
    expect(tab.locator("#file-preview .note")).to_contain_text("“High”")
    tab.locator(".reading > summary").press("Enter")
    tab.locator("#header-line").press("N")  # None: the first row is data
    expect(tab.locator("#role-priority option")).to_have_count(4)
    tab.locator("#role-priority").select_option("column_2")
    low = tab.get_by_label("Low")
    expect(low).to_have_value("200")
    low.fill("120")
    low.press("Tab")
    expect(tab.locator("#import-button")).to_be_visible()
    check_accessibility(tab)
    tab.locator("#import-button").press("Enter")
    expect(tab.locator("#state:not([aria-busy])")).to_contain_text("3 added")
    assert sorted(item.priority for item in created.items("inbound")) == [30, 30, 120]
    assert {item.payload["column_3"] for item in created.items("inbound")} == {"007", "008", "009"}
    tab.get_by_role("link", name="Next: add your questions").press("Enter")
    expect(tab.locator("#columns .builder-row")).to_have_count(2)  # without the priority
    expect(tab.locator("#preview")).to_contain_text("Where is it?")


def test_queue_is_created_from_a_file_without_javascript(
    plain_tab: Page, manager: str, words_file: Path, server: Any
) -> None:
    tab, created = plain_tab, leaseq.Queue(server.client, words_file.stem)
    sign_in(tab, manager)
    tab.goto("/new-queue")
    tab.get_by_label("File", exact=True).set_input_files(words_file)
    tab.get_by_role("button", name="Show the preview").click()
    expect(tab.get_by_text("it has words such as “High”")).to_be_visible()
    assert not created.exists()
    tab.get_by_label("File", exact=True).set_input_files(words_file)
    tab.get_by_role("button", name="Create queue and import 2 rows").click()
    check_created(tab, created, 100, 100)
