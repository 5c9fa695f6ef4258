// Each option of a ranking has one place. If an option is chosen twice, its old place gets the only unused option,
// or none if several are unused.
document.addEventListener(
  "input",
  (event) => {
    const places = [...(event.target.closest(".ranking")?.querySelectorAll("select") ?? [])];
    const twice = places.find((one) => one !== event.target && one.value === event.target.value);
    if (!twice || event.target.value === "") return;
    const free = [...event.target.options].map((one) => one.value).filter((text) => text && places.every((one) => one.value !== text));
    twice.value = free.length === 1 ? free[0] : "";
  },
  { capture: true }, // before the draft is saved
);
