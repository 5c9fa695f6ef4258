// What the server had no time for goes out again by itself, once.
const form = document.getElementById("again");
const timer = setTimeout(() => form.requestSubmit(), 1000 * Number(form.dataset.seconds));
form.addEventListener("submit", () => clearTimeout(timer));
