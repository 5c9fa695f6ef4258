// The form as editable rows. The JSON in the text area is the state: rows are built from it and write to it.
import { formOf, keyFor, rowsOf, textOf, valueOf, valuesOf } from "./form-model.js";

const builder = document.getElementById("builder");
const text = document.getElementById("form");
const json = text.closest(".field");
const rows = document.getElementById("rows");
const lists = { shown: document.getElementById("shown"), question: document.getElementById("questions") };
const tabs = [...builder.querySelectorAll("[role=tab]")];

let form = {};

function parsed() {
  try {
    const value = text.value.trim() ? JSON.parse(text.value) : {};
    rowsOf(value); // throws if the form is malformed
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

// Tabs

export function showJson() {
  show(tabs[1]);
}

function show(tab) {
  const asRows = tab === tabs[0];
  for (const one of tabs) {
    one.setAttribute("aria-selected", String(one === tab));
    one.tabIndex = one === tab ? 0 : -1;
  }
  json.hidden = asRows;
  rows.hidden = !asRows;
  if (asRows) read();
}

builder.querySelector("[role=tablist]").addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (tab) show(tab);
});

builder.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = tabs.find((one) => one !== event.target);
  show(other);
  other.focus();
});

// From the JSON to rows

function read() {
  const value = parsed();
  document.getElementById("unreadable").hidden = value !== null;
  document.getElementById("readable").hidden = value === null;
  if (value === null) return;
  form = value;
  const found = rowsOf(form);
  lists.shown.replaceChildren(...found.shown.map((one) => rowOf("shown", one)));
  lists.question.replaceChildren(...found.questions.map((one) => rowOf("question", one)));
  dress();
}

function rowOf(what, values) {
  const row = document.getElementById(`${what}-row`).content.firstElementChild.cloneNode(true);
  row.values = values;
  for (const control of row.querySelectorAll("[data-of]")) {
    const value = values[control.dataset.of];
    if (control.type === "checkbox") control.checked = Boolean(value);
    else if (value !== undefined) control.value = value;
  }
  row.wanted = Object.entries(values.when ?? {}).map(([other, texts]) => [other, [texts].flat().map(textOf)]);
  return row;
}

// Updates what depends on other rows or on a row's kind.
function dress() {
  const earlier = [];
  for (const list of Object.values(lists)) {
    const all = [...list.children];
    for (const [at, row] of all.entries()) {
      row.querySelector("[data-move='-1']").disabled = at === 0;
      row.querySelector("[data-move='1']").disabled = at === all.length - 1;
      row.firstElementChild.setAttribute("aria-label", row.querySelector("input").value || String(at + 1));
    }
  }
  for (const row of lists.question.children) {
    const kind = row.querySelector("[data-of=kind]").value;
    for (const part of row.querySelectorAll("[data-kinds]")) part.hidden = !part.dataset.kinds.split(" ").includes(kind);
    const title = row.querySelector("[data-of=title]").value || row.values.key;
    dressConditions(row, earlier);
    if (kind === "choice" || kind === "choices" || kind === "boolean") earlier.push({ row, title });
  }
}

// One block for each condition of a question, or one empty block if it has none.
function dressConditions(row, earlier) {
  const place = row.querySelector("[data-when-of]");
  if (!place) return;
  const pairs = row.wanted.length ? row.wanted : [["", []]];
  const blank = document.getElementById("condition").content.firstElementChild;
  while (place.children.length < pairs.length) place.append(blank.cloneNode(true));
  while (place.children.length > pairs.length) place.lastElementChild.remove();
  const unused = earlier.filter((one) => !row.wanted.some(([other]) => other === one.row.values.key));
  for (const [at, [other, texts]] of pairs.entries()) dressCondition(place.children[at], at, other, texts, earlier, unused);
  place.hidden = !earlier.length && !row.wanted.length; // nothing to depend on
  row.querySelector("[data-when=more]").hidden = !unused.length || !row.wanted.length || row.wanted.some(([other]) => !other);
}

function dressCondition(block, at, other, texts, earlier, unused) {
  block.querySelector("[data-first]").hidden = at > 0;
  block.querySelector("[data-further]").hidden = at === 0;
  const select = block.querySelector("[data-when=question]");
  const offered = earlier.filter((one) => unused.includes(one) || one.row.values.key === other);
  select.replaceChildren(select.options[0], ...offered.map((one) => new Option(one.title, one.row.values.key)));
  if (other && !offered.some((one) => one.row.values.key === other)) select.append(new Option(other, other));
  select.value = other;
  const box = block.querySelector("[data-when=answers]");
  box.hidden = !other;
  const given = earlier.find((one) => one.row.values.key === other);
  const answers = given ? answersOf(given.row) : texts;
  const list = box.querySelector("div");
  list.replaceChildren(...[...new Set([...answers, ...texts])].map((answer) => tick(answer, texts.includes(answer))));
}

function answersOf(row) {
  if (row.querySelector("[data-of=kind]").value === "boolean") return ["true", "false"];
  const lines = row.querySelector("[data-of=options]").value.split("\n");
  return lines.map((line) => line.split(/\s+=\s+/)[0].trim()).filter(Boolean);
}

function tick(answer, isTicked) {
  const made = document.getElementById("answer-tick").content.firstElementChild.cloneNode(true);
  const box = made.querySelector("input");
  box.value = answer;
  box.checked = isTicked;
  made.querySelector("span").textContent = builder.dataset[`answer${answer}`] ?? answer;
  return made;
}

// From rows to the JSON

function write() {
  const questions = [...lists.question.children].map(questionOf);
  const shown = [...lists.shown.children].map((row) => ({ ...row.values, ...typedIn(row) })).filter((one) => one.field);
  form = formOf(form, { shown, questions });
  const renamed = Object.fromEntries(questions.map((one) => [one.was, one.key]));
  for (const [at, row] of [...lists.question.children].entries()) {
    const { key } = questions[at];
    row.values = { ...row.values, key, schema: form.ask.properties[key], when: form.when?.[key] };
    for (const pair of row.wanted) pair[0] = renamed[pair[0]] ?? pair[0];
  }
  text.value = Object.keys(form).length ? JSON.stringify(form, null, 2) : "";
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

function questionOf(row, at) {
  const typed = typedIn(row);
  const taken = [...lists.question.children].slice(0, at).map((one) => one.querySelector("[data-of=key]").value);
  const wanted = typed.key.trim();
  const key = wanted && !taken.includes(wanted) ? wanted : keyFor(typed.title, taken);
  row.querySelector("[data-of=key]").value = key;
  return { ...row.values, ...typed, was: row.values.key, key, when: conditionsOf(row) };
}

function conditionsOf(row) {
  const pairs = row.wanted.filter(([other, texts]) => other && texts.length);
  return pairs.length ? Object.fromEntries(pairs.map(([other, texts]) => [other, valuesFor(other, texts)])) : undefined;
}

// The values of the answers with these texts.
function valuesFor(other, texts) {
  const question = [...lists.question.children].find((one) => one.values.key === other);
  const known = question?.values.schema?.type === "boolean" ? [true, false] : valuesOf(question?.values.schema ?? {});
  return texts.map((answer) => valueOf(answer, known));
}

function typedIn(row) {
  const pairs = [...row.querySelectorAll("[data-of]")].map((one) => [one.dataset.of, one.type === "checkbox" ? one.checked : one.value]);
  return Object.fromEntries(pairs);
}

rows.addEventListener("input", (event) => {
  const row = event.target.closest(".row");
  if (!row) return;
  event.stopPropagation(); // the text area fires its own event for the change
  const block = event.target.closest(".condition");
  const at = block ? [...block.parentElement.children].indexOf(block) : -1;
  if (event.target.dataset.when === "question") {
    row.wanted.splice(at, 1, ...(event.target.value ? [[event.target.value, []]] : []));
  } else if (event.target.dataset.when === "answer") {
    row.wanted[at][1] = [...block.querySelectorAll("[data-when=answer]:checked")].map((one) => one.value);
  } else if (event.target.dataset.of === "title" && row.isNew) {
    row.querySelector("[data-of=key]").value = ""; // derived from the title until the title field was left
  }
  write();
  if (event.target.dataset.when !== "answer") dress();
  if (block && !block.isConnected) row.querySelector(".condition:last-child [data-when=question]").focus();
});

rows.addEventListener("focusout", (event) => {
  const row = event.target.closest(".row");
  if (row && event.target.dataset.of === "title" && event.target.value) row.isNew = false;
});

rows.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const row = button?.closest(".row");
  if (button?.dataset.add) add(button.dataset.add);
  else if (button?.dataset.move) move(row, Number(button.dataset.move), button);
  else if (button?.dataset.remove !== undefined) remove(row);
  else if (button?.dataset.and !== undefined) addCondition(row);
});

function add(what) {
  const list = lists[what];
  const keys = [...lists.question.children].map((one) => one.values.key);
  const row = rowOf(what, what === "shown" ? { kind: "text" } : { key: keyFor("", keys), schema: {}, kind: "text", title: "" });
  row.isNew = true;
  list.append(row);
  dress();
  if (what === "question") write(); // a shown field without a name is ignored
  row.querySelector(what === "shown" ? "[data-of=field]" : "[data-of=title]").focus();
}

function addCondition(row) {
  row.wanted.push(["", []]);
  dress();
  row.querySelector(".condition:last-child [data-when=question]").focus();
}

function move(row, by, button) {
  const other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (by < 0) other.before(row);
  else other.after(row);
  write();
  dress();
  (button.disabled ? row.querySelector("[data-move]:not(:disabled)") : button).focus();
}

function remove(row) {
  const list = row.parentElement;
  const near = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  write();
  dress();
  (near?.querySelector("[data-remove]") ?? list.nextElementSibling.querySelector("button")).focus();
}

builder.hidden = false;
show(tabs[parsed() === null || text.matches("[aria-invalid]") ? 1 : 0]);
