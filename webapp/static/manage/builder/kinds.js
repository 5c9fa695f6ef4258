// The kinds of questions, in the order in which a schema is recognised. Each has
// `parts`: the parts of its row, by their names in form_builder.html (data-part), which may depend on their values;
// `fits`: whether a schema is of this kind;
// `read`: the values of its parts; `write`: the members of the schema that they make;
// `owned`: the members that the parts stand for: all others of a schema are kept;
// `answers`: the values to which keys can be bound, and on which other questions can depend (unless `decides` is false).
import { formatNumber, readNumbers } from "../../shared/numbers.js";

const SHORT_LENGTH = 120; // characters of a single-line text
const MAX_STEPS = 11; // values of a range that is shown as buttons

const OPTIONS = {
  parts: ["options"],
  answers: ({ options }) => options.filter(({ origin }) => origin).map(({ origin }) => origin.value),
};

const RANGE = {
  parts: ["range"],
  owned: ["type", "minimum", "maximum"],
  read: ({ minimum, maximum }) => ({ minimum: formatLimit(minimum), maximum: formatLimit(maximum) }),
  answers: () => [],
};

export const QUESTION_KINDS = {
  tree: {
    parts: ["paths"],
    owned: ["type", "enum", "oneOf", "x-widget"],
    fits: (schema) => schema["x-widget"] === "tree" && listOptions(schema) !== null,
    read: (schema) => ({ paths: readPaths(schema) }),
    write: ({ paths, schema }) => ({ type: "string", ...writePaths(paths, schema), "x-widget": "tree" }),
    answers: ({ paths, schema }) => (writePaths(paths, schema).enum ?? []).slice(0, MAX_STEPS),
  },
  choice: {
    ...OPTIONS,
    owned: ["type", "enum", "oneOf"],
    fits: (schema) => listOptions(schema) !== null,
    read: (schema) => ({ options: readOptions(schema) }),
    write: ({ options }) => {
      const members = writeOptions(options);
      return members.enum?.every((value) => typeof value === "string") ? { type: "string", ...members } : members;
    },
  },
  boolean: {
    parts: ["keys"],
    owned: ["type"],
    fits: (schema) => schema.type === "boolean",
    read: () => ({}),
    write: () => ({ type: "boolean" }),
    answers: () => [true, false],
  },
  rating: {
    ...RANGE,
    parts: ["range", "keys"],
    owned: [...RANGE.owned, "x-widget"],
    fits: (schema) => schema.type === "integer" && schema["x-widget"] === "rating",
    write: (values) => ({ type: "integer", ...writeStars(values), "x-widget": "rating" }),
    answers: (values) => listSteps(writeStars(values)),
  },
  integer: {
    ...RANGE,
    parts: (values) => (listSteps(writeRange(values)).length ? ["range", "keys"] : ["range"]),
    fits: (schema) => schema.type === "integer",
    write: (values) => ({ type: "integer", ...writeRange(values) }),
    answers: (values) => listSteps(writeRange(values)),
  },
  number: {
    ...RANGE,
    fits: (schema) => schema.type === "number",
    write: (values) => ({ type: "number", ...writeRange(values) }),
  },
  ranking: {
    ...OPTIONS,
    decides: false,
    owned: ["type", "uniqueItems", "minItems", "maxItems", "items"],
    fits: (schema) => {
      const count = schema.type === "array" && listOptions(schema.items)?.length;
      return count > 0 && schema.uniqueItems === true && schema.minItems === count && schema.maxItems === count;
    },
    read: (schema) => ({ options: readOptions(schema.items) }),
    write: ({ options }) => {
      const items = writeOptions(options);
      const { length } = items.enum ?? items.oneOf;
      return { type: "array", uniqueItems: true, minItems: length, maxItems: length, items };
    },
  },
  choices: {
    ...OPTIONS,
    owned: ["type", "uniqueItems", "items"],
    fits: (schema) => schema.type === "array" && listOptions(schema.items) !== null,
    read: (schema) => ({ options: readOptions(schema.items) }),
    write: ({ options }) => ({ type: "array", uniqueItems: true, items: writeOptions(options) }),
  },
  passages: {
    ...OPTIONS,
    parts: ["text", "options"],
    decides: false,
    owned: ["type", "items", "x-widget", "x-text"],
    fits: (schema) => schema.type === "array" && schema["x-widget"] === "passages" && listOptions(schema.items?.properties?.label) !== null,
    read: (schema) => ({ text: schema["x-text"] ?? "", options: readOptions(schema.items.properties.label) }),
    write: ({ text, options, schema }) => ({ type: "array", "x-widget": "passages", "x-text": text, items: writePassage(options, schema.items) }),
  },
  file: {
    parts: ["files"],
    decides: false,
    owned: ["type", "items", "x-widget", "minItems", "maxItems"],
    fits: (schema) => schema.type === "array" && schema["x-widget"] === "file" && isRecord(schema.items),
    read: readFiles,
    write: writeFiles,
    answers: () => [],
  },
  rows: {
    parts: ["members"],
    owned: ["type", "items"],
    fits: (schema) => schema.type === "array" && isRecord(schema.items),
    read: (schema) => ({ members: readMembers(schema.items) }),
    write: ({ members, schema }) => ({ type: "array", items: writeMembers(members, schema.items) }),
    answers: () => [],
  },
  lines: typedKind(
    (schema) => schema.type === "array" && schema.items?.type === "string",
    { type: "array", items: { type: "string" } },
  ),
  date: typedKind((schema) => isText(schema, "date"), { type: "string", format: "date" }),
  time: typedKind((schema) => isText(schema, "time"), { type: "string", format: "time" }),
  "date-time": typedKind((schema) => isText(schema, "date-time"), { type: "string", format: "date-time" }),
  text: typedKind(
    (schema) => isText(schema) && Boolean(schema.maxLength <= SHORT_LENGTH || schema.format),
    { type: "string", maxLength: SHORT_LENGTH },
  ),
  "long-text": typedKind((schema) => isText(schema), { type: "string" }),
  other: { parts: ["other"], owned: [], fits: () => true, read: () => ({}), write: () => ({}), answers: () => [] },
};

// A kind without parts of its own. A schema that is of this kind already keeps its members.
function typedKind(fits, schema) {
  const write = (values) => (fits(values.schema) ? {} : schema);
  return { parts: [], owned: [], fits, read: () => ({}), write, answers: () => [] };
}

const isText = (schema, format) =>
  schema.type === "string" && !schema.$ref && (format === undefined || schema.format === format);

export const kindOf = (schema) => Object.keys(QUESTION_KINDS).find((kind) => QUESTION_KINDS[kind].fits(schema));

export function partsOf(kind, values) {
  const { parts } = QUESTION_KINDS[kind];
  return typeof parts === "function" ? parts(values) : parts;
}

// The schema of a question: its kind, and the members that the builder does not show.
export function writeSchema({ schema, kind, title, help, ...values }) {
  const isSameKind = kind === kindOf(schema);
  const kept = Object.entries(isSameKind ? schema : {}).filter(([name]) => !QUESTION_KINDS[kind].owned.includes(name));
  const { title: _title, description: _description, ...others } = Object.fromEntries(kept);
  return {
    ...(title ? { title } : {}),
    ...(help ? { description: help } : {}),
    ...others,
    ...QUESTION_KINDS[kind].write({ ...values, schema: isSameKind ? schema : {} }),
  };
}

// Options. `origin` is the option of the schema: its value, its label, and further members.

function listOptions(schema) {
  if (Array.isArray(schema?.enum)) return schema.enum.map((value) => ({ value, label: "", others: {} }));
  const isTitled = schema?.oneOf?.length && schema.oneOf.every((option) => option && "const" in option);
  if (!isTitled) return null;
  return schema.oneOf.map(({ const: value, title, ...others }) => ({ value, label: title ?? "", others }));
}

const readOptions = (schema) =>
  listOptions(schema).map((origin) => ({
    text: origin.label ? toText(origin.label) : toText(origin.value),
    value: origin.label ? toText(origin.value) : "",
    key: "",
    origin,
  }));

const isFilled = ({ text, value }) => Boolean(text.trim() || value.trim());

// Sets the origin of each option to what is written, so that the value of an unchanged text keeps its type.
function writeOptions(options) {
  const filled = options.filter(isFilled);
  const isNumeric = filled.every(({ origin, text, value }) => isNumberText(value || text) && typeof (origin?.value ?? 0) === "number");
  for (const option of filled) {
    const { text, value, origin } = option;
    const label = origin?.label && toText(origin.label) === text ? origin.label : text.trim();
    const valueText = value.trim() || label;
    const isKept = origin && toText(origin.value) === (value || text);
    const isNumber = isNumeric && filled.some((other) => typeof other.origin?.value === "number");
    const written = isKept ? origin.value : isNumber ? Number(valueText) : valueText;
    option.origin = { value: written, label: value.trim() ? label : "", others: origin?.others ?? {} };
    if (option.origin.label === toText(written)) option.origin.label = "";
  }
  const origins = filled.map(({ origin }) => origin);
  if (origins.every(({ label, others }) => !label && !Object.keys(others).length)) {
    return { enum: origins.map(({ value }) => value) };
  }
  return { oneOf: origins.map(({ value, label, others }) => ({ const: value, title: label || toText(value), ...others })) };
}

const isNumberText = (text) => text.trim() !== "" && Number.isFinite(Number(text));

// A text that an input would change, or that looks like a quoted one, is shown as JSON, as are other values.
export function toText(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain = value !== "" && value === value.trim() && !/^"|[\p{Cc}\u2028\u2029]/u.test(value);
  return isPlain ? value : JSON.stringify(value);
}

// Ranges. A limit that can't be read stays as it was typed, so that the form is refused and says why.

const formatLimit = (limit) => (typeof limit === "number" ? formatNumber(limit) : limit ?? "");

function readLimit(text) {
  const numbers = readNumbers(text);
  return numbers.length === 1 ? numbers[0] : text;
}

const writeRange = ({ minimum, maximum }) => ({
  ...(minimum === "" ? {} : { minimum: readLimit(minimum) }),
  ...(maximum === "" ? {} : { maximum: readLimit(maximum) }),
});

const writeStars = (values) => ({ minimum: 1, maximum: 5, ...writeRange(values) });

function listSteps({ minimum, maximum }) {
  const count = maximum - minimum + 1;
  const isScale = Number.isInteger(minimum) && Number.isInteger(maximum) && count > 1 && count <= MAX_STEPS;
  return isScale ? Array.from({ length: count }, (_, step) => minimum + step) : [];
}

// The columns of a table: the members of its rows' objects. `origin` is the member's schema.

const MEMBER_TYPES = {
  text: { type: "string" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  date: { type: "string", format: "date" },
};

const isRecord = (schema) => schema?.type === "object" && Object.keys(schema.properties ?? {}).length > 0;

function memberKind({ type, format, enum: options, oneOf, $ref }) {
  if (options || oneOf || $ref) return "other";
  return Object.keys(MEMBER_TYPES).find((kind) => MEMBER_TYPES[kind].type === type && MEMBER_TYPES[kind].format === format) ?? "other";
}

const readMembers = ({ properties, required = [] }) =>
  Object.entries(properties).map(([key, origin]) => ({
    text: origin.title ?? key,
    value: origin.title ? key : "",
    kind: memberKind(origin),
    need: required.includes(key) ? "required" : "optional",
    origin,
  }));

function writeMembers(members, record = {}) {
  const filled = members.filter(isFilled).map((member) => ({ ...member, key: member.value.trim() || member.text.trim() }));
  const properties = filled.map(({ key, text, kind, origin = {} }) => {
    const { title: _title, ...kept } = kind === memberKind(origin) ? origin : MEMBER_TYPES[kind] ?? MEMBER_TYPES.text;
    return [key, { ...(text.trim() && text.trim() !== key ? { title: text.trim() } : {}), ...kept }];
  });
  const { required: _required, ...others } = record;
  const required = filled.filter(({ need }) => need === "required").map(({ key }) => key);
  return { ...others, type: "object", properties: Object.fromEntries(properties), ...(required.length ? { required } : {}) };
}

// A passage of a text, with the label's options. Its other members are kept.
function writePassage(options, { properties, ...others } = {}) {
  const { enum: _enum, oneOf: _oneOf, ...label } = properties?.label ?? {};
  const place = { type: "integer", minimum: 0 };
  return {
    type: "object",
    required: ["start", "end", "label"],
    ...others,
    properties: { ...(properties ?? { start: place, end: place, text: { type: "string" } }), label: { ...label, ...writeOptions(options) } },
  };
}

// Files: how many, how large, and the media types of each kind that has a box. Other types of a schema are kept.

const FILE_TYPES = {
  pictures: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/heic"],
  pdf: ["application/pdf"],
  documents: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.oasis.opendocument.text", "application/msword", "text/plain"],
  sheets: ["text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.oasis.opendocument.spreadsheet", "application/vnd.ms-excel"],
  sound: ["audio/mpeg", "audio/mp4", "audio/ogg", "audio/wav", "audio/x-wav"],
  video: ["video/mp4", "video/webm", "video/quicktime"],
};
const MEGABYTE = 1_000_000;

const without = (schema, name) => Object.fromEntries(Object.entries(schema ?? {}).filter(([other]) => other !== name));

function readFiles({ maxItems = 1, items }) {
  const { size, type } = items.properties;
  const types = type?.enum ?? [];
  const boxes = Object.entries(FILE_TYPES).map(([kind, group]) => [kind, group.every((one) => types.includes(one))]);
  return { count: formatLimit(maxItems), megabytes: size?.maximum === undefined ? "" : formatLimit(size.maximum / MEGABYTE), ...Object.fromEntries(boxes) };
}

function writeFiles({ count, megabytes, schema, ...boxes }) {
  const { properties = {}, ...others } = schema.items ?? {};
  const before = schema.items ? readFiles(schema) : {};
  const kinds = Object.keys(FILE_TYPES);
  const grouped = kinds.filter((kind) => before[kind]).flatMap((kind) => FILE_TYPES[kind]);
  const kept = (properties.type?.enum ?? []).filter((type) => !grouped.includes(type));
  const types = [...kinds.filter((kind) => boxes[kind]).flatMap((kind) => FILE_TYPES[kind]), ...kept];
  const limit = readLimit(megabytes);
  const maximum = typeof limit === "number" ? Math.round(limit * MEGABYTE) : limit;
  return {
    type: "array",
    "x-widget": "file",
    minItems: 1,
    maxItems: count === "" ? 1 : readLimit(count),
    items: {
      type: "object",
      required: ["key", "name", "size", "type"],
      ...others,
      properties: {
        ...properties,
        key: { type: "string", ...properties.key },
        name: { type: "string", ...properties.name },
        size: { type: "integer", minimum: 1, ...without(properties.size, "maximum"), ...(megabytes === "" ? {} : { maximum }) },
        type: { type: "string", ...without(properties.type, "enum"), ...(types.length ? { enum: [...new Set(types)] } : {}) },
      },
    },
  };
}

// The choices of a tree, one path a line, with the value in front if it is another: `code = Animals / Dogs`.

const readPaths = (schema) =>
  listOptions(schema).map(({ value, label }) => (label && label !== value ? `${toText(value)} = ${label}` : toText(value))).join("\n");

function writePaths(paths, schema) {
  if (readPaths(schema.enum || schema.oneOf ? schema : { enum: [] }) === paths) return schema.oneOf ? { oneOf: schema.oneOf } : { enum: schema.enum ?? [] };
  const lines = paths.split("\n").map((line) => line.trim()).filter(Boolean);
  const pairs = lines.map((line) => /^(.*?)\s+=\s+(.*)$/.exec(line)?.slice(1) ?? [line]);
  if (pairs.every(([, path]) => path === undefined)) return { enum: pairs.map(([path]) => path) };
  return { oneOf: pairs.map(([value, path]) => ({ const: value, title: path ?? value })) };
}
