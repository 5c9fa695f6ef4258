// Keyboard control of an item's pictures and sound, and helpers for form widgets. All handlers are on the document,
// so that they also apply to content added later.
import "./conditions.js";
import "./ranking.js";

document.documentElement.classList.add("scripted");

const STEP = 5; // seconds per arrow key
const ZOOM = 1.25;

// The switch for single keys of the work page applies here too.
const keysAreOff = () => localStorage.getItem("leaseq keys off") !== null;
const isWriting = (target) => target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
const isPressable = (target) => target.closest("button, a[href], summary, audio, video, [role=button]") !== null;

// Pictures

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-large]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openLarge(link);
});

function openLarge(link) {
  const small = link.querySelector("img");
  const dialog = document.createElement("dialog");
  dialog.className = "large";
  const bar = dialog.appendChild(document.createElement("div"));
  bar.className = "bar";
  const heading = bar.appendChild(document.createElement("h2"));
  heading.textContent = small.alt;
  heading.id = "large-name";
  dialog.setAttribute("aria-labelledby", heading.id);
  const pane = dialog.appendChild(document.createElement("div"));
  pane.className = "pane";
  pane.tabIndex = 0;
  pane.setAttribute("role", "group");
  pane.setAttribute("aria-labelledby", heading.id);
  const image = pane.appendChild(document.createElement("img"));
  image.src = small.src;
  image.alt = small.alt;
  image.referrerPolicy = "no-referrer";

  const natural = small.naturalWidth || 300;
  let scale = 1;
  const size = (wanted) => {
    scale = Math.min(Math.max(wanted, 0.1), 16);
    image.style.width = `${Math.round(natural * scale)}px`;
  };
  const button = (text, key, act) => {
    const made = bar.appendChild(document.createElement("button"));
    made.type = "button";
    made.textContent = `${text} `;
    made.appendChild(document.createElement("kbd")).textContent = key;
    made.addEventListener("click", act);
  };
  button(link.dataset.bigger, "+", () => size(scale * ZOOM));
  button(link.dataset.smaller, "-", () => size(scale / ZOOM));
  button(link.dataset.close, "Esc", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the page's shortcuts are inactive while it is open
    if (event.key === "+" || event.key === "=") size(scale * ZOOM);
    else if (event.key === "-") size(scale / ZOOM);
    else if (event.key === "0") size(1);
    else if (event.key.toLowerCase() === "o") dialog.close();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  size(Math.min(pane.clientWidth / natural, pane.clientHeight / (small.naturalHeight || 1)));
  pane.focus();
}

// Keys

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.metaKey || event.altKey || (keysAreOff() && !event.ctrlKey)) return;
  const writing = isWriting(event.target);
  if (playKey(event, writing)) event.preventDefault();
  else if (event.key.toLowerCase() === "o" && !writing && !event.ctrlKey) {
    const link = document.querySelector("a[data-large]");
    if (!link || document.querySelector('[data-key="o" i]')) return;
    event.preventDefault();
    openLarge(link);
  }
});

// Space plays and pauses, arrows seek, unless the focused element uses these keys itself; in a text field, with Ctrl.
function playKey(event, writing) {
  if (!["Space", "ArrowLeft", "ArrowRight"].includes(event.code) || event.ctrlKey !== writing) return false;
  if (!writing && (isPressable(event.target) || (event.target.type === "radio" && event.code !== "Space"))) return false;
  if (event.target.type === "checkbox" || (event.target.type === "radio" && !event.target.checked)) return false;
  const player = playing();
  if (!player) return false;
  if (event.code !== "Space") player.currentTime += event.code === "ArrowLeft" ? -STEP : STEP;
  else if (!event.repeat) player.paused ? player.play().catch(() => {}) : player.pause();
  return true;
}

// The player that was started last, else the first.
let last = null;
document.addEventListener("play", (event) => (last = event.target), true);

function playing() {
  return last?.isConnected ? last : document.querySelector(".part audio, .part video");
}

// Widgets

document.addEventListener("input", (event) => count(event.target));
document.addEventListener("focusin", (event) => count(event.target));

function count(target) {
  const place = target.id && document.querySelector(`[data-count-of="${CSS.escape(target.id)}"]`);
  if (!place) return;
  const left = Number(place.dataset.most) - [...target.value].length;
  place.textContent = (left < 0 ? place.dataset.over : place.dataset.left).replace("{n}", Math.abs(left).toLocaleString(document.documentElement.lang));
  place.classList.toggle("near", left < place.dataset.most / 3);
  place.classList.toggle("over", left < 0);
}

// Number fields are text inputs, so that the browser discards no input; arrow keys step the value.
document.addEventListener("keydown", (event) => {
  const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const { step, least, most } = event.target.dataset;
  if (!way || !step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const digits = (step.split(".")[1] ?? "").length;
  const now = Number(event.target.value.trim() || (least ?? 0) - way * step);
  if (Number.isNaN(now)) return;
  const next = Math.min(Math.max(now + way * step, least ?? -Infinity), most ?? Infinity);
  event.target.value = next.toFixed(Math.max(digits, (String(now).split(".")[1] ?? "").length));
  event.target.dispatchEvent(new Event("input", { bubbles: true }));
});
