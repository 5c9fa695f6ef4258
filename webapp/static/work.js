// The work page: drafts as you type, the time left, one key a choice, Ctrl+Enter to finish.
const form = document.getElementById("answer");
const draftNote = document.getElementById("draft");
const DRAFT_PAUSE = 600; // ms after the last key

// Drafts

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
  if (!event.target.closest("[data-name]")) return;
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

// Keys

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector("button[value=next]"));
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  for (const input of form.querySelectorAll("input[data-key]")) {
    if (input.dataset.key === event.key) {
      event.preventDefault();
      input.focus();
      input.click();
      return;
    }
  }
});

function isWriting(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}

// The time left, by this page's own clock: the server said how long, so a wrong clock here does no harm.

const left = document.getElementById("left");
if (left) {
  const end = performance.now() + Number(left.dataset.left) * 1000;
  const whole = Number(left.dataset.of);
  const show = () => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    const minutes = Math.floor(seconds / 60);
    left.textContent = `${minutes}:${String(seconds % 60).padStart(2, "0")} left`;
    left.classList.toggle("soon", seconds <= whole / 5);
    if (seconds > 0) return;
    clearInterval(ticking);
    left.textContent = "";
    document.getElementById("ran-out").hidden = false;
  };
  const ticking = setInterval(show, 1000);
  show();
}
