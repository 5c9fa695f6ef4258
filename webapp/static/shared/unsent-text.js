// Asks before a page is left while one of its forms has something typed in it that was not sent.
let sentForm = null;

document.addEventListener("submit", (event) => (sentForm = event.target));

window.addEventListener("beforeunload", (event) => {
  const fields = [...document.querySelectorAll("main form :is(textarea, input:not([type=hidden]))")];
  if (fields.some((field) => field.form !== sentForm && isTyped(field))) event.preventDefault();
});

const isTyped = (field) =>
  ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
