// Sets the initial focus: the first error, else the text box if there are no choices by key, else the item.

export function begin({ root, form, elsewhere }) {
  if (elsewhere || document.activeElement?.closest("dialog")) return;
  const wrong = root.querySelector("[aria-invalid=true]") ?? atFault(root.querySelector("#wrong"));
  const box = form.querySelector("input[data-key]") ? null : form.querySelector("[data-name] textarea, [data-name] input");
  if (!wrong) window.scrollTo(0, 0); // on a small window the previous item was scrolled away
  const place = wrong ?? (form.dataset.renew && !form.querySelector("input:checked") ? box : null);
  if (place) place.focus({ preventScroll: !wrong });
  else atHand(root.querySelector("#item"));
}

// The item has the focus from the start, so that it scrolls by keys. Its focus ring, distracting on each new item,
// appears only with the first key.
function atHand(item) {
  item.classList.add("at-hand");
  item.focus({ preventScroll: true });
  const shown = () => item.classList.remove("at-hand");
  item.addEventListener("keydown", shown, { once: true });
  item.addEventListener("blur", shown, { once: true });
}

// The field that the first error links to: a choice is not marked itself.
function atFault(errors) {
  const place = errors?.querySelector("a") && document.getElementById(errors.querySelector("a").hash.slice(1));
  return place?.querySelector("input") ?? place ?? errors;
}
