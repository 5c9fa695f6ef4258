// Marks passages of the item's text. The rows of the question are the marks: the text only shows them.
import { inputsOf, insertRow, rowsOf } from "./row-list.js";
import "./rows.js";

const COLOURS = 6;
const questions = new Map(); // the text of each question, by its fieldset

const tableOf = (question) => question.querySelector("table.rows");
const inputOf = (row, column) => inputsOf(row).find((input) => input.dataset.column === column);
const isBlank = (row) => !inputOf(row, "start").value && !inputOf(row, "end").value;
const numberIn = (input) => (/^\d{1,9}$/.test(input.value.trim()) ? Number(input.value) : NaN);

export function begin(question) {
  for (const other of questions.keys()) if (!other.isConnected) questions.delete(other);
  const element = document.querySelector(`.part[data-field="${CSS.escape(question.dataset.text)}"] > .text`);
  if (!element) return; // the offsets stay to be typed
  const text = new Text(element);
  questions.set(question, text);
  question.classList.add("has-text");
  makeSelectable(element, question);
  question.closest("form")?.addEventListener("filled", showAll);
  question.addEventListener("input", showAll);
  question.addEventListener("focusin", ({ target }) => showCurrent(target.closest("tr")));
  question.addEventListener("focusout", () => showCurrent(null));
  question.addEventListener("pointerdown", (event) => event.target.closest("[data-mark]") && event.preventDefault()); // keeps the selection
  question.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-mark]");
    if (button) mark(question, button.dataset.mark);
  });
  showAll();
}

// A text whose places are counted in code points; the browser counts in UTF-16.
class Text {
  constructor(element) {
    this.element = element;
    this.node = element.firstChild ?? element.appendChild(document.createTextNode(""));
    this.string = this.node.data;
    this.points = [...this.string];
  }

  // The number of code points before a place; half a character counts as none, or with `isEnd` as a whole one.
  pointsBefore(unit, isEnd) {
    const isInside = /[\udc00-\udfff]/.test(this.string[unit] ?? "") && /[\ud800-\udbff]/.test(this.string[unit - 1] ?? "");
    return [...this.string.slice(0, isInside ? unit + (isEnd ? 1 : -1) : unit)].length;
  }

  unitsBefore(point) {
    return this.points.length === this.string.length ? point : this.points.slice(0, point).join("").length;
  }

  range(start, end) {
    const range = new Range();
    range.setStart(this.node, this.unitsBefore(start));
    range.setEnd(this.node, this.unitsBefore(end));
    return range;
  }

  // The selected part of the text without the spaces around it, in code points; null if there is none.
  selection() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const whole = new Range();
    whole.selectNodeContents(this.element);
    if (range.compareBoundaryPoints(Range.END_TO_START, whole) >= 0 || range.compareBoundaryPoints(Range.START_TO_END, whole) <= 0) return null;
    const isFromStart = range.compareBoundaryPoints(Range.START_TO_START, whole) <= 0 || range.startContainer !== this.node;
    const isToEnd = range.compareBoundaryPoints(Range.END_TO_END, whole) >= 0 || range.endContainer !== this.node;
    let start = isFromStart ? 0 : this.pointsBefore(range.startOffset, false);
    let end = isToEnd ? this.points.length : this.pointsBefore(range.endOffset, true);
    while (start < end && !this.points[start].trim()) start++;
    while (end > start && !this.points[end - 1].trim()) end--;
    return start < end ? { start, end } : null;
  }

  words(start, end) {
    return this.points.slice(start, end).join("");
  }
}

// The text gets a caret, so that the keyboard selects in it, but can't be changed.
function makeSelectable(element, question) {
  if (element.isContentEditable) return;
  const name = question.querySelector("legend").firstChild.textContent.trim();
  const attributes = { contenteditable: "true", role: "textbox", "aria-multiline": "true", "aria-readonly": "true", "aria-label": name };
  for (const [key, value] of Object.entries({ ...attributes, spellcheck: "false", inputmode: "none" })) element.setAttribute(key, value);
  element.classList.add("markable");
  for (const type of ["beforeinput", "dragstart", "drop"]) element.addEventListener(type, (event) => event.preventDefault());
  element.addEventListener("input", () => restoreText(element)); // a composition can't be prevented
  element.addEventListener("keydown", (event) => event.key.startsWith("Arrow") && event.stopPropagation()); // not for a player
}

function restoreText(element) {
  for (const text of questions.values()) {
    if (text.element !== element) continue;
    text.node.data = text.string;
    element.replaceChildren(text.node);
  }
  showAll();
}

document.addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    for (const [question, text] of questions) {
      const isInText = document.activeElement === text.element;
      if (!isInText && (event.key === "Enter" || event.target.matches("input, textarea, select, button") || !text.selection())) continue;
      const button = [...question.querySelectorAll("[data-mark-key]")].find(({ dataset }) => dataset.markKey.toLowerCase() === event.key.toLowerCase());
      if (!button || question.closest("[inert], [hidden]") || !text.element.isConnected) continue;
      event.preventDefault();
      event.stopPropagation();
      mark(question, button.dataset.mark);
      return;
    }
  },
  { capture: true }, // before the page's other keys
);

function mark(question, label) {
  const text = questions.get(question);
  const place = text?.selection();
  if (!place) return showStatus(question, "unselected");
  const table = tableOf(question);
  const rows = rowsOf(table).filter((row) => !isBlank(row));
  const isSame = (row) => numberIn(inputOf(row, "start")) === place.start && numberIn(inputOf(row, "end")) === place.end;
  if (rows.some((row) => isSame(row) && (inputOf(row, "label")?.value ?? "") === label)) return showStatus(question, "known");
  if (rows.length >= Number(table.dataset.max)) return showStatus(question, "full");
  for (const row of rowsOf(table)) if (isBlank(row)) row.remove();
  const row = insertRow(table, rows.find((other) => numberIn(inputOf(other, "start")) > place.start));
  inputOf(row, "start").value = place.start;
  inputOf(row, "end").value = place.end;
  if (inputOf(row, "label")) inputOf(row, "label").value = label;
  table.dispatchEvent(new Event("input", { bubbles: true }));
  showStatus(question, "marked", text.words(place.start, place.end));
  getSelection().collapse(text.node, text.unitsBefore(place.end));
}

function showStatus(question, what, words = "") {
  const status = question.querySelector(".table-actions [role=status]");
  status.textContent = status.dataset[what].replace("{words}", () => words);
  for (const button of question.querySelectorAll("[data-row-action=restore]")) button.hidden = true;
}

// The words of each row, and the marks in the text, by the place of their label.
function showAll() {
  const ranges = Array.from({ length: COLOURS }, () => []);
  for (const [question, text] of questions) {
    if (!question.isConnected) continue;
    const labels = [...question.querySelectorAll("[data-mark]")].map(({ dataset }) => dataset.mark);
    for (const row of rowsOf(tableOf(question))) {
      const [start, end] = [numberIn(inputOf(row, "start")), numberIn(inputOf(row, "end"))];
      const isInText = start < end && end <= text.points.length;
      row.hidden = isBlank(row);
      row.querySelector(".words").textContent = isInText ? text.words(start, end) : row.hidden ? "" : `${inputOf(row, "start").value}–${inputOf(row, "end").value}: ?`;
      if (isInText) ranges[Math.max(labels.indexOf(inputOf(row, "label")?.value ?? ""), 0) % COLOURS].push(text.range(start, end));
    }
  }
  for (const [index, list] of ranges.entries()) CSS.highlights?.set(`mark-${index}`, new Highlight(...list));
}

// Emphasizes the passage of a row, and brings it into view.
function showCurrent(row) {
  CSS.highlights?.delete("mark-current");
  const text = row && questions.get(row.closest("fieldset"));
  const place = text && [numberIn(inputOf(row, "start")), numberIn(inputOf(row, "end"))];
  if (!place || !(place[0] < place[1] && place[1] <= text.points.length)) return;
  const range = text.range(...place);
  const current = new Highlight(range);
  current.priority = 1;
  CSS.highlights?.set("mark-current", current);
  const pane = text.element.closest("#item");
  const [passage, box] = [range.getBoundingClientRect(), pane?.getBoundingClientRect()];
  if (pane && (passage.top < box.top || passage.bottom > box.bottom)) pane.scrollTop += passage.top - box.top - box.height / 3;
}
