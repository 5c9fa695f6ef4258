// The questions about the item and the managers' answers, which arrive while the person works.
import { fetchFragment, parseFragment } from "../shared/page.js";

let view = null;
let version = 0; // of the shown thread, to discard outdated responses

export function begin(nextView) {
  view = nextView;
  const button = view.root.querySelector("#new-answer button");
  button.addEventListener("click", () => {
    const thread = view.root.querySelector("#thread");
    thread.scrollIntoView({ block: "nearest" });
    thread.focus();
    view.root.querySelector("#new-answer").hidden = true;
  }, { signal: view.signal });
}

// Shows the server's new thread after a question was sent.
export function replaceThread(html) {
  version += 1;
  showThread(html);
  view.form.elements.message.value = Math.random().toString(36).slice(2); // a new id for the next question
  const textarea = view.form.elements.question;
  textarea.value = "";
  textarea.dispatchEvent(new Event("input", { bubbles: true })); // updates the local copy
  const action = textarea.closest("details");
  action.open = false;
  view.form.inert = false; // an inert form takes no focus
  action.querySelector("summary").focus();
  view.root.querySelector("#thread").scrollIntoView({ block: "nearest" });
}

// Reloads the thread. New answers are announced, and nothing moves.
export async function refreshThread() {
  const { root, signal } = view;
  if (!root.dataset.threadUrl) return;
  const requested = (version += 1);
  const html = await fetchFragment(root.dataset.threadUrl);
  if (html !== null && !signal.aborted && requested === version) showThread(html);
}

function showThread(html) {
  const before = countAnswers();
  const thread = view.root.querySelector("#thread");
  thread.replaceChildren(parseFragment(html));
  thread.hidden = !thread.firstElementChild;
  if (countAnswers() > before) view.root.querySelector("#new-answer").hidden = false;
}

const countAnswers = () => view.root.querySelectorAll("#thread .from-manager").length;
