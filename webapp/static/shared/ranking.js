// Each option of a ranking has one place. If an option is chosen twice, its old place gets the only unused option,
// or none if several are unused.
document.addEventListener(
  "input",
  (event) => {
    const select = event.target;
    const selects = [...(select.closest(".ranking")?.querySelectorAll("select") ?? [])];
    const duplicate = selects.find((other) => other !== select && other.value === select.value);
    if (!duplicate || select.value === "") return;
    const values = [...select.options].map((option) => option.value);
    const unused = values.filter((value) => value && selects.every((other) => other.value !== value));
    duplicate.value = unused.length === 1 ? unused[0] : "";
  },
  { capture: true }, // before the draft is saved
);
