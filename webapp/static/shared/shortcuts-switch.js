// Whether single-key shortcuts work on the work page. Stored in this browser; the switch is there and on the
// account page.
const OFF = "leaseq keys off"; // single keys hinder people who use speech input or often hit keys by mistake
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
