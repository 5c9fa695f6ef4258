// Converts a form to rows (shown fields and questions) and back. Members that rows do not show are kept.

const FORMATS = { date: "date", time: "time", "date-time": "date-time" };
const SHORT = 120; // characters of a single-line text

export function rowsOf(form) {
  const ask = form.ask ?? {};
  const shown = (form.show ?? []).map((one) => (typeof one === "string" ? { field: one } : one));
  const questions = Object.entries(ask.properties ?? {}).map(([key, schema]) => ({
    key,
    schema,
    kind: kindOf(schema),
    title: schema.title ?? "",
    help: schema.description ?? "",
    required: (ask.required ?? []).includes(key),
    options: optionsOf(schema.items ?? schema),
    least: schema.minimum ?? "",
    most: schema.maximum ?? "",
    prefill: form.prefill?.[key] ?? "",
    when: form.when?.[key],
  }));
  return { shown, questions };
}

export function formOf(before, { shown, questions }) {
  const form = { ...before };
  set(form, "show", shown.map(entryOf), shown.length > 0);
  const ask = { type: "object", ...before.ask };
  ask.properties = Object.fromEntries(questions.map((one) => [one.key, schemaOf(one)]));
  const renamed = Object.fromEntries(questions.map((one) => [one.was, one.key]));
  const others = (ask.required ?? []).filter((name) => !(name in (before.ask?.properties ?? {})));
  const required = [...questions.filter((one) => one.required).map((one) => one.key), ...others];
  set(ask, "required", required, required.length > 0);
  set(form, "ask", ask, questions.length > 0);
  set(form, "prefill", chosen(questions, "prefill"), questions.some((one) => one.prefill));
  const when = Object.entries(chosen(questions, "when")).map(([name, wanted]) => [name, withNames(wanted, renamed)]);
  set(form, "when", Object.fromEntries(when), when.length > 0);
  if (form.keys) form.keys = keysOf(form.keys, renamed);
  return form;
}

// A key for a question with this title, unlike all in `taken`.
export function keyFor(title, taken) {
  const plain = title.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "").toLowerCase().slice(0, 40);
  const stem = plain || "question";
  for (let n = 1; ; n++) {
    const key = n === 1 ? stem : `${stem}_${n}`;
    if (!taken.includes(key)) return key;
  }
}

function set(object, name, value, isThere) {
  if (isThere) object[name] = value;
  else delete object[name];
}

function entryOf({ field, kind, label, beside }) {
  const entry = { field, kind: kind || "text" };
  if (label) entry.label = label;
  if (beside) entry.beside = true;
  return entry;
}

const chosen = (questions, part) => Object.fromEntries(questions.filter((one) => one[part]).map((one) => [one.key, one[part]]));

const withNames = (object, renamed) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [renamed[name] ?? name, value]));

const keysOf = (keys, renamed) =>
  Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [key, value && typeof value === "object" ? withNames(value, renamed) : value]),
  );

function kindOf(schema) {
  if (choicesOf(schema)) return "choice";
  if (schema.type === "boolean" || schema.type === "integer" || schema.type === "number") return schema.type;
  if (schema.type === "array") {
    const choices = choicesOf(schema.items ?? {});
    if (!choices) return schema.items?.type === "string" ? "lines" : "other";
    const isAll = schema.uniqueItems && schema.minItems === choices.length && schema.maxItems === choices.length;
    return isAll ? "ranking" : "choices";
  }
  if (schema.type !== "string" || schema.$ref) return "other";
  return FORMATS[schema.format] ?? (schema.maxLength <= SHORT || schema.format ? "text" : "long-text");
}

function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => [value, ""]);
  const named = schema.oneOf?.length && schema.oneOf.every((one) => "const" in one);
  return named ? schema.oneOf.map((one) => [one.const, one.title ?? ""]) : null;
}

// One per line: the value, or the value and its label.
const optionsOf = (schema) =>
  (choicesOf(schema) ?? []).map(([value, label]) => (label ? `${textOf(value)} = ${label}` : textOf(value))).join("\n");

export const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// The known value with this text, so that numbers and booleans keep their types; else the text itself.
export function valueOf(text, known) {
  return known.find((value) => textOf(value) === text) ?? text;
}

export const valuesOf = (schema) => (choicesOf(schema.items ?? schema) ?? []).map(([value]) => value);

function membersOf(options, schema) {
  const known = schema.type === "boolean" ? [true, false] : valuesOf(schema);
  const pairs = options
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => line.match(/^(.*?)\s+=\s+(.*)$/)?.slice(1) ?? [line, ""]);
  if (pairs.some(([, label]) => label)) {
    return { oneOf: pairs.map(([text, label]) => ({ const: valueOf(text, known), title: label || text })) };
  }
  return { enum: pairs.map(([text]) => valueOf(text, known)) };
}

function schemaOf(question) {
  const { schema, kind, title, help } = question;
  const kept = kind === kindOf(schema) ? { ...schema } : {};
  for (const name of ["title", "description", "enum", "oneOf", "items", "minimum", "maximum"]) {
    if (kind !== "other") delete kept[name];
  }
  const made = { ...(title ? { title } : {}), ...(help ? { description: help } : {}), ...kept, ...typeOf(question) };
  if (kind === "other") {
    set(made, "title", title, title !== "");
    set(made, "description", help, help !== "");
  }
  return made;
}

function typeOf({ schema, kind, options, least, most }) {
  const members = membersOf(options, schema);
  const count = (members.enum ?? members.oneOf).length;
  switch (kind) {
    case "choice":
      return members.enum?.every((value) => typeof value === "string") ? { type: "string", ...members } : members;
    case "choices":
      return { type: "array", uniqueItems: true, items: members };
    case "ranking":
      return { type: "array", uniqueItems: true, minItems: count, maxItems: count, items: members };
    case "lines":
      return { type: "array", items: { type: "string", ...schema.items, enum: undefined } };
    case "text":
      return { type: "string", ...(schema.maxLength <= SHORT || schema.format ? {} : { maxLength: SHORT }) };
    case "long-text":
      return { type: "string" };
    case "integer":
    case "number":
      return { type: kind, ...(least === "" ? {} : { minimum: Number(least) }), ...(most === "" ? {} : { maximum: Number(most) }) };
    case "other":
      return {};
    default:
      return kind === "boolean" ? { type: kind } : { type: "string", format: kind };
  }
}
