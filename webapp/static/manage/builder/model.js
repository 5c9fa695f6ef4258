// Converts a form to rows (shown columns and questions) and back. What rows do not show, and rows that are not
// changed, stay as they are.
import { QUESTION_KINDS, kindOf, partsOf, writeSchema } from "./kinds.js";

export function toRows(form) {
  const ask = form.ask ?? {};
  const columns = (form.show ?? []).map((entry) => ({ kind: "text", ...(typeof entry === "string" ? { field: entry } : entry), entry }));
  const questions = Object.entries(ask.properties ?? {}).map(([key, schema]) => {
    const kind = kindOf(schema);
    const question = {
      key,
      name: key,
      schema,
      kind,
      title: schema.title ?? "",
      help: schema.description ?? "",
      required: (ask.required ?? []).includes(key),
      prefill: form.prefill?.[key] ?? "",
      when: form.when?.[key],
      ...QUESTION_KINDS[kind].read(schema),
    };
    return { ...question, ...readKeys(question, form.keys ?? {}) };
  });
  return { columns, questions };
}

export function toForm(oldForm, { columns, questions }) {
  const oldNames = Object.keys(oldForm.ask?.properties ?? {});
  const newKeys = Object.fromEntries(questions.map((question) => [question.previousKey, question.key]));
  const others = (members = {}) => Object.entries(members).filter(([name]) => !oldNames.includes(name)); // no row shows them
  const collect = (name) => questions.filter((question) => question[name]).map((question) => [question.key, question[name]]);

  const ask = { type: "object", ...oldForm.ask };
  ask.properties = Object.fromEntries(
    questions.map((question) => [question.key, question.isChanged ? writeSchema(question) : question.schema]),
  );
  setMember(ask, "required", [
    ...questions.filter((question) => question.required).map((question) => question.key),
    ...(ask.required ?? []).filter((name) => !oldNames.includes(name)),
  ]);
  const form = { ...oldForm };
  setMember(form, "show", columns.map((column) => (column.isChanged ? makeEntry(column) : column.entry)));
  if (questions.length || !isPlain(ask)) form.ask = ask;
  else delete form.ask;
  setMember(form, "prefill", Object.fromEntries([...collect("prefill"), ...others(form.prefill)]));
  const when = collect("when").map(([key, answers]) => [key, renameMembers(answers, newKeys)]);
  setMember(form, "when", Object.fromEntries([...when, ...others(form.when)]));
  setMember(form, "keys", writeKeys(oldForm, questions, newKeys));
  return form;
}

// Whether nothing is lost if `ask` is left out when it has no question.
const isPlain = (ask) => Object.keys(ask).every((name) => ["type", "properties", "additionalProperties"].includes(name));

// A key for a question with this title, unlike all in `takenKeys`.
export function makeKey(title, takenKeys) {
  const slug = title
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .toLowerCase()
    .slice(0, 40);
  const stem = slug || "question";
  for (let n = 1; ; n++) {
    const key = n === 1 ? stem : `${stem}_${n}`;
    if (!takenKeys.includes(key)) return key;
  }
}

// Sets a list or an object; an empty one is left out.
function setMember(object, name, value) {
  if (Object.keys(value).length) object[name] = value;
  else delete object[name];
}

// An entry of `show`; members without a value are left out.
function makeEntry({ entry, isChanged: _isChanged, areKeysChanged: _areKeysChanged, when: _when, ...values }) {
  const members = { ...(typeof entry === "object" ? entry : {}), ...values };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== "" && value !== false));
}

const renameMembers = (object, newKeys) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [newKeys[key] ?? key, value]));

// Keys of the keyboard. A form binds each to an answer, by its value or by question and value.

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const isSame = (value, other) => JSON.stringify(value) === JSON.stringify(other);

// The keys of a question's answers: in its options, or as one text with a key for each answer in turn, where a space
// stands for none.
function readKeys(question, bindings) {
  const keyOf = (value) =>
    Object.entries(bindings).find(([, bound]) => isSame(isObject(bound) ? bound[question.key] : bound, value))?.[0];
  if (question.options) return { options: question.options.map((option) => ({ ...option, key: keyOf(option.origin.value) ?? "" })) };
  return { keys: QUESTION_KINDS[question.kind].answers(question).map((value) => keyOf(value) ?? " ").join("").trimEnd() };
}

// The bindings of the rows, and those that no row shows. Unless a row's keys are changed, they stay as they are.
function writeKeys(oldForm, questions, newKeys) {
  const bindings = oldForm.keys ?? {};
  const isRewritten = questions.some((question) => question.areKeysChanged);
  const shownKeys = new Set(isRewritten ? toRows(oldForm).questions.flatMap(listBindings).map(([key]) => key) : []);
  const isGone = (name) => name in (oldForm.ask?.properties ?? {}) && !(name in newKeys);
  const keys = {};
  for (const [key, bound] of Object.entries(bindings)) {
    if (!isObject(bound)) {
      if (!shownKeys.has(key)) keys[key] = bound;
      continue;
    }
    const kept = Object.entries(bound).filter(([name]) => !isGone(name) && !(shownKeys.has(key) && name in newKeys));
    if (kept.length) keys[key] = renameMembers(Object.fromEntries(kept), newKeys);
  }
  for (const [key, name, value] of isRewritten ? questions.flatMap(listBindings) : []) {
    keys[key] = { ...(isObject(keys[key]) ? keys[key] : {}), [name]: value };
  }
  return keys;
}

function listBindings(question) {
  const { key: name, options, keys = "", kind } = question;
  if (partsOf(kind, question).includes("options")) {
    return options.filter(({ key, origin }) => key && origin).map(({ key, origin }) => [key, name, origin.value]);
  }
  const pairs = QUESTION_KINDS[kind].answers(question).map((value, index) => [[...keys][index] ?? " ", name, value]);
  return pairs.filter(([key]) => key !== " ");
}
