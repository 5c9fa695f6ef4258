// The questions about the item and the managers' answers, which arrive while the person works.
import { localise } from "../shared/page.js";

let sheet = null;
let looks = 0;

export function begin(next) {
  sheet = next;
  const jump = sheet.root.querySelector("#answered button");
  jump.addEventListener("click", () => {
    const thread = sheet.root.querySelector("#thread");
    thread.scrollIntoView({ block: "nearest" });
    thread.focus();
    sheet.root.querySelector("#answered").hidden = true;
  }, { signal: sheet.signal });
}

// Shows the server's new thread after a question was sent.
export function sent(html) {
  looks += 1; // makes pending requests outdated
  const before = answers();
  replace(html);
  if (answers() > before) sheet.root.querySelector("#answered").hidden = false;
  sheet.form.elements.message.value = Math.random().toString(36).slice(2); // a new id for the next question
  const box = sheet.form.elements.question;
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true })); // updates the local copy
  const way = box.closest("details");
  way.open = false;
  sheet.form.inert = false; // an inert form takes no focus
  way.querySelector("summary").focus();
  sheet.root.querySelector("#thread").scrollIntoView({ block: "nearest" });
}

// Reloads the thread. New answers are announced, and nothing moves.
export async function look() {
  const { root, signal } = sheet;
  if (!root.dataset.thread) return;
  const turn = (looks += 1);
  try {
    const answer = await fetch(root.dataset.thread, { redirect: "manual" });
    const text = await answer.text();
    if (!answer.ok || signal.aborted || turn !== looks) return;
    const before = answers();
    replace(text);
    if (answers() > before) root.querySelector("#answered").hidden = false;
  } catch {
    // no connection: it is requested again when there is one
  }
}

const answers = () => sheet.root.querySelectorAll("#thread .answered").length;

function replace(html) {
  const piece = document.createElement("template");
  piece.innerHTML = html; // from our own server and the page's own template
  localise(piece.content);
  const thread = sheet.root.querySelector("#thread");
  thread.replaceChildren(piece.content);
  thread.hidden = !thread.firstElementChild;
}
