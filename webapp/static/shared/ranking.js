// A ranking has each choice in one place: what is put in a place leaves the one that it had, to what stood there.
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
