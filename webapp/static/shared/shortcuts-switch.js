// Whether single-key shortcuts work on the work page. Stored in this browser; the switch is there and on the
// account page.
const STORAGE_KEY = "leaseq keys off"; // single keys hinder people who use speech input or often hit keys by mistake
const checkbox = document.getElementById("single-keys");

export const areSingleKeysOff = () => localStorage.getItem(STORAGE_KEY) !== null;

function update() {
  checkbox.checked = !areSingleKeysOff();
  document.documentElement.classList.toggle("single-keys-off", areSingleKeysOff());
}

if (checkbox) {
  checkbox.addEventListener("change", () => {
    if (checkbox.checked) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, "yes");
    update();
  });
  window.addEventListener("storage", update); // switched in another tab
  checkbox.closest("section")?.removeAttribute("hidden");
  update();
}
