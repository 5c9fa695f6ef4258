// Where the hands go: to what is wrong, into the only box to write in, else to the item.

export function begin({ root, form, elsewhere }) {
  if (elsewhere || document.activeElement?.closest("dialog")) return;
  const wrong = root.querySelector("[aria-invalid=true]") ?? atFault(root.querySelector("#wrong"));
  const box = form.querySelector("input[data-key]") ? null : form.querySelector("[data-name] textarea, [data-name] input");
  if (!wrong) window.scrollTo(0, 0); // on a small window the item before was scrolled away
  const place = wrong ?? (form.dataset.renew && !form.querySelector("input:checked") ? box : null);
  if (place) place.focus({ preventScroll: !wrong });
  else atHand(root.querySelector("#item"));
}

// The item has the focus from the start, so that it scrolls by keys; a ring round each new one would be loud.
// It is shown as soon as the keyboard moves something.
function atHand(item) {
  item.classList.add("at-hand");
  item.focus({ preventScroll: true });
  const shown = () => item.classList.remove("at-hand");
  item.addEventListener("keydown", shown, { once: true });
  item.addEventListener("blur", shown, { once: true });
}

// What the first line of the errors is about: a choice has no mark of its own.
function atFault(errors) {
  const place = errors?.querySelector("a") && document.getElementById(errors.querySelector("a").hash.slice(1));
  return place?.querySelector("input") ?? place ?? errors;
}
