// Keyboard control of an item's pictures and sound, and helpers for form widgets. All handlers are on the document,
// so that they also apply to content added later.
import { startQuestions } from "./questions/start.js";
import "./choice-search.js";
import "./conditions.js";
import { isKey, isTextInput } from "./keys.js";
import { formatNumber, readNumbers } from "./numbers.js";
import "./ranking.js";
import { areSingleKeysOff } from "./shortcuts-switch.js";

document.documentElement.classList.add("scripted");

startQuestions();

const SEEK_SECONDS = 5; // per arrow key
const ZOOM_FACTOR = 1.25;

const isPressable = (element) => element.closest("button, a[href], summary, audio, video, [role=button]") !== null;

// Pictures

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-lightbox]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openLightbox(link);
});

// The picture of a link, enlarged. Pictures of one strip follow each other.
function openLightbox(firstLink) {
  const links = [...(firstLink.closest(".strip") ?? firstLink.parentElement).querySelectorAll("a[data-lightbox]")];
  const dialog = document.createElement("dialog");
  dialog.className = "lightbox";
  dialog.setAttribute("aria-labelledby", "lightbox-heading");
  dialog.innerHTML = `<div class="bar"><h2 id="lightbox-heading" aria-live="polite"></h2></div>
    <div class="pane" tabindex="0" role="group" aria-labelledby="lightbox-heading"><img referrerpolicy="no-referrer"></div>`;
  const [bar, pane] = dialog.children;
  const image = pane.firstChild;

  let link;
  let scale = 1;
  const setScale = (value) => {
    scale = Math.min(Math.max(value, 0.1), 16);
    image.style.width = `${Math.round((image.naturalWidth || 300) * scale)}px`;
  };
  const fit = () => setScale(Math.min(pane.clientWidth / (image.naturalWidth || 300), pane.clientHeight / (image.naturalHeight || 1)));
  const show = (newLink) => {
    link = newLink;
    const thumbnail = link.querySelector("img");
    bar.firstChild.textContent = image.alt = thumbnail.alt;
    image.src = thumbnail.src;
    if (dialog.open && image.complete) fit();
  };
  const step = (count) => show(links.at((links.indexOf(link) + count) % links.length));
  image.addEventListener("load", () => dialog.open && fit());

  const addButton = (text, key, onClick) => {
    const button = bar.appendChild(document.createElement("button"));
    button.type = "button";
    button.textContent = `${text} `;
    button.appendChild(document.createElement("kbd")).textContent = key;
    button.addEventListener("click", onClick);
  };
  if (links.length > 1) {
    addButton(firstLink.dataset.previous, "←", () => step(-1));
    addButton(firstLink.dataset.next, "→", () => step(1));
  }
  addButton(firstLink.dataset.zoomIn, "+", () => setScale(scale * ZOOM_FACTOR));
  addButton(firstLink.dataset.zoomOut, "-", () => setScale(scale / ZOOM_FACTOR));
  addButton(firstLink.dataset.close, "Esc", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the page's shortcuts are inactive while it is open
    const isPannable = pane.scrollWidth > pane.clientWidth; // then the arrow keys scroll
    if (event.key === "+" || event.key === "=") setScale(scale * ZOOM_FACTOR);
    else if (event.key === "-") setScale(scale / ZOOM_FACTOR);
    else if (event.key === "0") setScale(1);
    else if (event.key === "ArrowLeft" && !isPannable) step(-1);
    else if (event.key === "ArrowRight" && !isPannable) step(1);
    else if (isKey(event, "o")) dialog.close();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  document.body.append(dialog);
  show(firstLink);
  dialog.showModal();
  fit();
  pane.focus();
}

// A picture that can't be loaded, also before this script ran: the note says so, and the link opens its address.
function reportFailure(image) {
  const link = image.closest("a.picture");
  if (!link) return;
  delete link.dataset.lightbox;
  link.classList.add("failed-picture");
  link.setAttribute("aria-label", image.alt);
  link.nextElementSibling.hidden = false;
}

document.addEventListener("error", (event) => event.target.matches?.("a.picture > img") && reportFailure(event.target), true);
for (const image of document.querySelectorAll("a.picture > img")) {
  if (image.complete && !image.naturalWidth) reportFailure(image);
}

// Keys

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.metaKey || event.altKey || (areSingleKeysOff() && !event.ctrlKey)) return;
  const isTyping = isTextInput(event.target);
  if (handlePlayerKey(event, isTyping)) event.preventDefault();
  else if (isKey(event, "o") && !isTyping && !event.ctrlKey) {
    const link = document.querySelector("a[data-lightbox]");
    if (!link || document.querySelector('[data-key="o" i]')) return;
    event.preventDefault();
    openLightbox(link);
  }
});

// Space plays and pauses, arrows seek, unless the focused element uses these keys itself; in a text field, with Ctrl.
function handlePlayerKey(event, isTyping) {
  if (!["Space", "ArrowLeft", "ArrowRight"].includes(event.code) || event.ctrlKey !== isTyping) return false;
  if (!isTyping && (isPressable(event.target) || (event.target.type === "radio" && event.code !== "Space"))) return false;
  if (event.target.type === "checkbox" || (event.target.type === "radio" && !event.target.checked)) return false;
  const player = findPlayer();
  if (!player) return false;
  if (event.code !== "Space") player.currentTime += event.code === "ArrowLeft" ? -SEEK_SECONDS : SEEK_SECONDS;
  else if (!event.repeat) player.paused ? player.play().catch(() => {}) : player.pause();
  return true;
}

// The player that was started last, else the first.
let lastPlayer = null;
document.addEventListener("play", (event) => (lastPlayer = event.target), true);

function findPlayer() {
  return lastPlayer?.isConnected ? lastPlayer : document.querySelector(".part audio, .part video");
}

// Form widgets

document.addEventListener("input", (event) => countCharacters(event.target));
document.addEventListener("focusin", (event) => countCharacters(event.target));

function countCharacters(input) {
  const counter = input.id && document.querySelector(`[data-counter-for="${CSS.escape(input.id)}"]`);
  if (!counter) return;
  const { max, remaining, excess } = counter.dataset;
  const left = Number(max) - [...input.value].length;
  const template = left < 0 ? excess : remaining;
  counter.textContent = template.replace("{n}", Math.abs(left).toLocaleString(document.documentElement.lang));
  counter.classList.toggle("near-limit", left < max / 3);
  counter.classList.toggle("over-limit", left < 0);
}

// Number fields are text inputs, so that the browser discards no input; arrow keys step the value.
document.addEventListener("keydown", (event) => {
  const input = event.target;
  const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const { step, min, max } = input.dataset;
  if (!direction || !step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const [value, ...others] = input.value.trim() ? readNumbers(input.value) : [(min ?? 0) - direction * step];
  if (value === undefined || others.length) return;
  const next = Math.min(Math.max(value + direction * step, min ?? -Infinity), max ?? Infinity);
  input.value = formatNumber(next.toFixed(Math.max(countDecimals(step), countDecimals(value))));
  input.dispatchEvent(new Event("input", { bubbles: true }));
});

const countDecimals = (number) => (String(number).split(".")[1] ?? "").length;
