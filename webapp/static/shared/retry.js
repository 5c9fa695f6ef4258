// What the server had no time for is asked, or sent, again by itself.
const seconds = Number(document.getElementById("main").dataset.again);
const form = document.querySelector("form");
const timer = seconds && setTimeout(() => (form ? form.requestSubmit() : location.reload()), 1000 * seconds);
document.addEventListener("submit", () => clearTimeout(timer));
