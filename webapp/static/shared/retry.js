// Repeats the request that the overloaded server refused.
const seconds = Number(document.getElementById("main").dataset.retryAfter);
const form = document.querySelector("form");
const timer = seconds && setTimeout(() => (form ? form.requestSubmit() : location.reload()), 1000 * seconds);
document.addEventListener("submit", () => clearTimeout(timer));
