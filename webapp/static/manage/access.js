// Says how many people the chosen names match, while they are chosen.
const form = document.getElementById("access");
const PAUSE_MS = 250;

let timer = null;
let requestCount = 0;

for (const type of ["input", "change"]) {
  form.addEventListener(type, () => {
    clearTimeout(timer);
    timer = setTimeout(showMatches, PAUSE_MS);
  });
}
if ("restored" in form.dataset) {
  // by sections.js
  for (const details of form.querySelectorAll(".others")) details.open = details.querySelector("textarea").value !== "";
  showMatches();
}

async function showMatches() {
  const requestNumber = ++requestCount;
  let texts;
  try {
    const body = new URLSearchParams(new FormData(form));
    const response = await fetch(form.dataset.matchesUrl, { method: "POST", body, redirect: "manual" });
    if (!response.ok) return; // a name that can't be read yet: the last texts stay
    texts = await response.json();
  } catch {
    return; // no connection
  }
  if (requestNumber !== requestCount) return;
  for (const status of form.querySelectorAll("[data-matches]")) status.textContent = texts[status.dataset.matches];
}
