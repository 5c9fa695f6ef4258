// Numbers as people type them in the page's language, by the same rules as leaseq/webapp/i18n.py.
const DECIMAL = new Intl.NumberFormat(document.documentElement.lang || "en").formatToParts(1.5).find(({ type }) => type === "decimal").value;
const GROUPED = /^(?:[1-9]\d{0,2}([.,' ])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3})$/;
const NUMBER = /^([+-]?) ?([\d.,' ]+)(?:e([+-]?\d+))?$/i;
const MARKS = { "٫": ".", "٬": "'", "،": ",", "。": ".", "｡": ".", "、": ",", "’": "'", "−": "-", "–": "-" };

// The numbers that a text may mean: none, one, or two.
export function readNumbers(input) {
  const [, sign, text, exponent = "0"] = NUMBER.exec(toPlain(input)) ?? [];
  if (text === undefined) return [];
  const digits = text.trim();
  const numbers = new Set();
  let isWhole = /^\d+$/.test(digits) || GROUPED.test(digits);
  for (const separator of ".,") {
    const [before, after, more] = digits.split(separator);
    const isDecimal = after !== undefined && more === undefined && before + after !== "";
    if (!isDecimal || !/^\d*$/.test(after) || !(/^\d*$/.test(before) || GROUPED.test(before))) continue;
    if (separator === DECIMAL) isWhole = false;
    numbers.add(Number(`${sign}${onlyDigits(before) || 0}.${after || 0}e${exponent}`));
  }
  if (isWhole) numbers.add(Number(`${sign}${onlyDigits(digits)}e${exponent}`));
  return [...numbers].filter(Number.isFinite);
}

export const formatNumber = (number) => String(number).replace(".", DECIMAL);

const onlyDigits = (text) => text.replace(/\D/g, "");

function toPlain(text) {
  const chars = [...text.replace(/[\u200e\u200f\u061c]/g, "")].map((char) => MARKS[char] ?? toAscii(char));
  return chars.join("").replace(/\s+/g, " ").trim();
}

// Full-width characters, and the digits of any script, which follow each other in Unicode from 0 to 9.
function toAscii(char) {
  const code = char.codePointAt(0);
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCodePoint(code - 0xfee0);
  if (!/\p{Nd}/u.test(char)) return char;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}
