// The panel beside a list: the item of the focused row. The request for it ends when another row gets the focus.
import { parseFragment } from "../shared/page.js";

const WAIT_MS = 80; // while a key is held, rows pass by faster
const panel = document.getElementById("peek");
const isWide = matchMedia("(width >= 1280px)");
let controller = new AbortController();
let shown = null;

if (panel) {
  panel.hidden = false;
  document.addEventListener("row", (event) => show(event.detail));
  isWide.addEventListener("change", () => show(shown ?? firstLink()));
  show(firstLink());
}

function firstLink() {
  return document.querySelector("table[data-keys] tbody a.title");
}

async function show(link) {
  shown = link;
  controller.abort();
  if (!link || !isWide.matches) return;
  controller = new AbortController();
  const { signal } = controller;
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  if (signal.aborted) return;
  const content = await fetchItem(peekUrl(link), signal);
  if (signal.aborted) return;
  if (content) panel.replaceChildren(parseFragment(content));
  else panel.textContent = panel.dataset.failed;
  panel.scrollTop = 0;
}

function peekUrl(link) {
  const url = new URL(link.href);
  url.pathname = url.pathname.replace("/items/", "/peek/"); // of the first: a queue's name has no slash
  return url;
}

async function fetchItem(url, signal) {
  try {
    const response = await fetch(url, { signal, redirect: "manual" });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
