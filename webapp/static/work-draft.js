// What is typed is kept as a draft while it is typed.
const form = document.getElementById("answer");
const draftNote = document.getElementById("draft");
const DRAFT_PAUSE = 600; // ms after the last key

function typed() {
  const draft = {};
  for (const place of form.querySelectorAll("[data-name]")) {
    const { name, kind } = place.dataset;
    if (kind === "choice" || kind === "choices") {
      const ticked = [...place.querySelectorAll("input:checked")].map((input) => input.value);
      if (ticked.length) draft[name] = kind === "choice" ? ticked[0] : ticked;
    } else {
      const text = place.querySelector("input, textarea").value;
      if (text) draft[name] = text;
    }
  }
  return draft;
}

let timer = null;
let saving = Promise.resolve();
let leaving = false;

async function save() {
  const body = JSON.stringify({ token: Number(form.dataset.token), draft: typed() });
  try {
    const answer = await fetch(form.dataset.draft, {
      method: "PUT",
      body,
      headers: { "Content-Type": "application/json", "X-CSRFToken": form.dataset.csrf },
      keepalive: body.length < 60000,
    });
    draftNote.textContent = answer.ok ? "Draft saved" : "The draft is not saved: " + (await why(answer));
  } catch {
    draftNote.textContent = "The draft is not saved: no connection";
  }
}

async function why(answer) {
  try {
    return (await answer.json()).detail;
  } catch {
    return "error " + answer.status;
  }
}

function saveNow() {
  if (timer === null) return;
  clearTimeout(timer);
  timer = null;
  saving = saving.then(save);
}

form.addEventListener("input", (event) => {
  if (!form.dataset.draft || !event.target.closest("[data-name]")) return;
  clearTimeout(timer);
  draftNote.textContent = "";
  timer = setTimeout(saveNow, DRAFT_PAUSE);
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden" && !leaving) saveNow();
});

// A draft that is still on its way must not come after the finish.
form.addEventListener("submit", () => {
  leaving = true;
  clearTimeout(timer);
  timer = null;
});
window.addEventListener("pageshow", () => (leaving = false));
