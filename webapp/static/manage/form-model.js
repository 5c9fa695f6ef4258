// Converts a form to rows (shown fields and questions) and back. Members that rows do not show are kept.
import { formatNumber, readNumbers } from "../shared/numbers.js";

const FORMATS = { date: "date", time: "time", "date-time": "date-time" };
const SHORT_LENGTH = 120; // characters of a single-line text

export function toRows(form) {
  const ask = form.ask ?? {};
  const shownFields = (form.show ?? []).map((entry) => (typeof entry === "string" ? { field: entry } : entry));
  const questions = Object.entries(ask.properties ?? {}).map(([key, schema]) => ({
    key,
    schema,
    kind: getKind(schema),
    title: schema.title ?? "",
    help: schema.description ?? "",
    required: (ask.required ?? []).includes(key),
    options: formatOptions(schema.items ?? schema),
    minimum: formatLimit(schema.minimum),
    maximum: formatLimit(schema.maximum),
    prefill: form.prefill?.[key] ?? "",
    when: form.when?.[key],
  }));
  return { shownFields, questions };
}

export function toForm(oldForm, { shownFields, questions }) {
  const form = { ...oldForm };
  setMember(form, "show", shownFields.map(makeEntry), shownFields.length > 0);
  const ask = { type: "object", ...oldForm.ask };
  ask.properties = Object.fromEntries(questions.map((question) => [question.key, makeSchema(question)]));
  const newKeys = Object.fromEntries(questions.map((question) => [question.previousKey, question.key]));
  const otherNames = (ask.required ?? []).filter((name) => !(name in (oldForm.ask?.properties ?? {})));
  const required = [...questions.filter((question) => question.required).map((question) => question.key), ...otherNames];
  setMember(ask, "required", required, required.length > 0);
  setMember(form, "ask", ask, questions.length > 0);
  setMember(form, "prefill", collect(questions, "prefill"), questions.some((question) => question.prefill));
  const when = Object.entries(collect(questions, "when")).map(([key, answers]) => [key, renameKeys(answers, newKeys)]);
  setMember(form, "when", Object.fromEntries(when), when.length > 0);
  if (form.keys) form.keys = renameShortcuts(form.keys, newKeys);
  return form;
}

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

function setMember(object, name, value, isPresent) {
  if (isPresent) object[name] = value;
  else delete object[name];
}

function makeEntry({ field, kind, label, beside }) {
  const entry = { field, kind: kind || "text" };
  if (label) entry.label = label;
  if (beside) entry.beside = true;
  return entry;
}

const collect = (questions, name) =>
  Object.fromEntries(questions.filter((question) => question[name]).map((question) => [question.key, question[name]]));

const renameKeys = (object, newKeys) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [newKeys[key] ?? key, value]));

const renameShortcuts = (keys, newKeys) =>
  Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [key, value && typeof value === "object" ? renameKeys(value, newKeys) : value]),
  );

function getKind(schema) {
  if (listChoices(schema)) return "choice";
  if (schema.type === "boolean" || schema.type === "integer" || schema.type === "number") return schema.type;
  if (schema.type === "array") {
    const choices = listChoices(schema.items ?? {});
    if (!choices) return schema.items?.type === "string" ? "lines" : "other";
    const isRanking = schema.uniqueItems && schema.minItems === choices.length && schema.maxItems === choices.length;
    return isRanking ? "ranking" : "choices";
  }
  if (schema.type !== "string" || schema.$ref) return "other";
  return FORMATS[schema.format] ?? (schema.maxLength <= SHORT_LENGTH || schema.format ? "text" : "long-text");
}

function listChoices(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => [value, ""]);
  const isTitled = schema.oneOf?.length && schema.oneOf.every((choice) => "const" in choice);
  return isTitled ? schema.oneOf.map((choice) => [choice.const, choice.title ?? ""]) : null;
}

// One per line: the value, or the value and its label.
const formatOptions = (schema) =>
  (listChoices(schema) ?? []).map(([value, label]) => (label ? `${toText(value)} = ${toLine(label)}` : toText(value))).join("\n");

export const toText = (value) => (typeof value === "string" ? toLine(value) : JSON.stringify(value));

// A text that is no line of its own, or would be read as a value and a label, is shown as JSON.
function toLine(text) {
  const isLine = text !== "" && text === text.trim() && !/^"|[\p{Cc}\u2028\u2029]|\s=\s/u.test(text);
  return isLine ? text : JSON.stringify(text).replaceAll("=", "\\u003d");
}

// A limit that can't be read stays as it was typed, so that the form is refused and says why.
const formatLimit = (limit) => (typeof limit === "number" ? formatNumber(limit) : limit ?? "");

function readLimit(text) {
  const numbers = readNumbers(text);
  return numbers.length === 1 ? numbers[0] : text;
}

// The known value with this text, so that numbers and booleans keep their types; else the text itself.
export function toValue(text, knownValues) {
  return knownValues.find((value) => toText(value) === text) ?? text;
}

export const listValues = (schema) => (listChoices(schema.items ?? schema) ?? []).map(([value]) => value);

function parseOptions(options, schema) {
  const knownValues = schema.type === "boolean" ? [true, false] : listValues(schema);
  const pairs = options
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => line.match(/^(.*?)\s+=\s+(.*)$/)?.slice(1) ?? [line, ""]);
  if (pairs.some(([, label]) => label)) {
    const knownLabels = (listChoices(schema.items ?? schema) ?? []).map(([, label]) => label);
    return { oneOf: pairs.map(([text, label]) => ({ const: toValue(text, knownValues), title: toValue(label, knownLabels) || text })) };
  }
  return { enum: pairs.map(([text]) => toValue(text, knownValues)) };
}

function makeSchema(question) {
  const { schema, kind, title, help } = question;
  const keptMembers = kind === getKind(schema) ? { ...schema } : {};
  for (const name of ["title", "description", "enum", "oneOf", "items", "minimum", "maximum"]) {
    if (kind !== "other") delete keptMembers[name];
  }
  const newSchema = {
    ...(title ? { title } : {}),
    ...(help ? { description: help } : {}),
    ...keptMembers,
    ...makeType(question),
  };
  if (kind === "other") {
    setMember(newSchema, "title", title, title !== "");
    setMember(newSchema, "description", help, help !== "");
  }
  return newSchema;
}

function makeType({ schema, kind, options, minimum, maximum }) {
  const members = parseOptions(options, schema);
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
      return { type: "string", ...(schema.maxLength <= SHORT_LENGTH || schema.format ? {} : { maxLength: SHORT_LENGTH }) };
    case "long-text":
      return { type: "string" };
    case "integer":
    case "number":
      return {
        type: kind,
        ...(minimum === "" ? {} : { minimum: readLimit(minimum) }),
        ...(maximum === "" ? {} : { maximum: readLimit(maximum) }),
      };
    case "other":
      return {};
    default:
      return kind === "boolean" ? { type: kind } : { type: "string", format: kind };
  }
}
