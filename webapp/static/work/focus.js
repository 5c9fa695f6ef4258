// Sets the initial focus: the first error, else the text box if there are no choices by key, else the item.

export function begin({ root, form, isOpenElsewhere }) {
  if (isOpenElsewhere || document.activeElement?.closest("dialog")) return;
  const invalid = root.querySelector("[aria-invalid=true]") ?? findInvalid(root.querySelector("#errors"));
  if (invalid) {
    invalid.focus();
    invalid.closest("[data-name], details")?.scrollIntoView({ block: "nearest" }); // with its label and its error
    return;
  }
  window.scrollTo(0, 0); // on a small window the previous item was scrolled away
  const hasKeys = form.querySelector("input[data-key], [data-mark-key]") !== null;
  const textBox = hasKeys ? null : form.querySelector("[data-name] textarea, [data-name] input");
  if (textBox && form.dataset.renewUrl && !form.querySelector("input:checked")) textBox.focus({ preventScroll: true });
  else focusItem(root.querySelector("#item"));
}

// The item has the focus from the start, so that it scrolls by keys. Its focus ring, distracting on each new item,
// appears only with the first key.
function focusItem(item) {
  item.classList.add("auto-focused");
  item.focus({ preventScroll: true });
  const showRing = () => item.classList.remove("auto-focused");
  item.addEventListener("keydown", showRing, { once: true });
  item.addEventListener("blur", showRing, { once: true });
}

// The field that the first error links to: a choice is not marked itself.
function findInvalid(errors) {
  const link = errors?.querySelector("a");
  const field = link && document.getElementById(link.hash.slice(1));
  return field?.querySelector("input") ?? field ?? errors;
}
