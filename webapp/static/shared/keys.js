// The keys that a key press may mean: its character, else the one in this place of a Latin keyboard, since other
// layouts have no such letter (Cyrillic, Arabic), or have digits only with Shift (French).

export function keysOf(event) {
  const [, kind, place] = /^(Key|Digit)(.)$/.exec(event.code) ?? [];
  const isLatin = /^[a-z0-9]$/i.test(event.key) || event.key.length !== 1;
  if (!place || isLatin || (kind === "Digit" && event.shiftKey)) return [event.key];
  return [event.key, place.toLowerCase()];
}

export const isTextInput = (element) => element.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");

export const isKey = (event, key) => keysOf(event).some((pressed) => pressed.toLowerCase() === key);
