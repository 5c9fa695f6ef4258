// Whether a single key does something on the work page. This browser keeps it; the switch is there and on the
// account's page.
const OFF = "leaseq keys off"; // a single key is a nuisance to who speaks to the computer, or slips
const toggle = document.getElementById("single-keys");

export const areOff = () => localStorage.getItem(OFF) !== null;

function show() {
  toggle.checked = !areOff();
  document.documentElement.classList.toggle("keys-off", areOff());
}

if (toggle) {
  toggle.addEventListener("change", () => {
    if (toggle.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "yes");
    show();
  });
  window.addEventListener("storage", show); // switched in another tab
  toggle.closest("section")?.removeAttribute("hidden");
  show();
}
