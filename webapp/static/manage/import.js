// Import: previews the first piece of the file, checks the whole file, then imports it.
import { follow } from "../shared/progress.js";
import { SignedOut, post, standsInTheWay } from "../shared/session.js";

const PIECE = 262144; // bytes of the file in the preview
const form = document.getElementById("import");
const input = document.getElementById("file");
const drop = document.getElementById("drop");
const look = document.getElementById("look");
const sending = document.getElementById("sending");
const words = document.getElementById("sent-words");
document.documentElement.classList.add("scripted");
document.querySelector(".without-script").remove(); // the preview has the same fields, and more

let file = null;
let requestCount = 0;
let under_way = false;
let planned = null; // the URLs for the file, once it is planned
let checking = null; // the request that checks the file

input.addEventListener("change", () => choose(input.files[0]));
document.getElementById("format").addEventListener("change", () => file && show());
for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => over(event, true));
drop.addEventListener("dragleave", (event) => over(event, false));
drop.addEventListener("drop", (event) => {
  over(event, false);
  if (!event.dataTransfer.files.length) return;
  input.files = event.dataTransfer.files;
  choose(input.files[0]);
});

function over(event, is) {
  event.preventDefault();
  drop.classList.toggle("over", is);
}

function choose(chosen) {
  file = chosen ?? null;
  forget();
  look.replaceChildren();
  if (file) show();
}

// The form's fields, without the file.
function choices() {
  const data = new FormData(form);
  data.delete("file");
  data.set("name", file.name);
  return data;
}

// Discards a check, which was made with the earlier choices.
function forget() {
  planned = null;
  checking?.abort();
  checking = null;
}

look.addEventListener("change", () => {
  forget();
  show();
});

// Shows other rows of the first piece; the result of a check stays.
look.addEventListener("click", async (event) => {
  const step = event.target.closest("[data-start]");
  if (!step) return;
  look.querySelector("[name=start]").value = step.dataset.start;
  const checked = document.getElementById("checked");
  await show();
  document.getElementById("checked")?.replaceWith(checked);
  const button = document.getElementById(step.id);
  (button?.disabled ? look.querySelector("[data-start]:not(:disabled)") : button)?.focus();
});

async function show() {
  const mine = ++requestCount;
  const piece = () => {
    const data = choices();
    data.set("piece", file.slice(0, PIECE), "piece");
    data.set("whole", file.size <= PIECE ? "yes" : "no");
    return data;
  };
  try {
    const answer = await post(form.dataset.look, piece);
    const text = await answer.text();
    if (mine !== requestCount) return;
    const focused = document.activeElement?.id;
    look.innerHTML = text; // from our own server
    if (focused) document.getElementById(focused)?.focus();
  } catch (error) {
    if (mine === requestCount) tell(error);
  }
}

// Shows why the file could not be sent, instead of an earlier reason.
function tell(error) {
  const line = look.querySelector(":scope > .error.lost") ?? document.createElement("p");
  line.className = "error lost";
  line.textContent = error instanceof SignedOut ? form.dataset.out : form.dataset.lost;
  look.prepend(line);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!file || under_way || checking) return;
  under_way = true;
  try {
    if (planned) await stillThere();
    else planned = await plan();
  } catch (error) {
    tell(error);
    return;
  } finally {
    under_way = false;
  }
  if (!document.getElementById("go")) return check(planned);
  const { to } = planned;
  under_way = true;
  history.replaceState(null, "", to); // a reload shows the import's result
  form.hidden = true;
  sending.hidden = false;
  send(to);
});

// Throws if the session has ended since the file was checked.
async function stillThere() {
  const why = await standsInTheWay(form);
  if (why) throw why === "out" ? new SignedOut() : new Error(why);
}

async function plan() {
  const answer = await post(form.dataset.plan, choices);
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

// The server reads the whole file without importing it, and reports which rows can be imported.
function check({ check: to }) {
  const place = document.getElementById("checked");
  const button = document.getElementById("check");
  const bar = document.getElementById("check-sent");
  const call = callTo(to);
  checking = call;
  button.disabled = true;
  document.getElementById("checking").hidden = false;
  call.upload.addEventListener("progress", (event) => (bar.value = event.total ? event.loaded / event.total : 1));
  call.addEventListener("abort", () => (button.disabled = false));
  call.addEventListener("error", () => again(new Error("lost")));
  call.addEventListener("load", () => {
    checking = null;
    if (!call.responseURL.endsWith(to)) again(new SignedOut()); // redirected to the sign-in page
    else if (call.status !== 200) again(new Error(call.status));
    else {
      place.innerHTML = call.responseText; // from our own server
      look.querySelector(".findings")?.remove(); // the check reports these, and more
      place.focus();
    }
  });
  call.send(file);

  function again(error) {
    forget();
    button.disabled = false;
    document.getElementById("checking").hidden = true;
    tell(error);
  }
}

function callTo(to) {
  const call = new XMLHttpRequest();
  call.open("POST", to);
  call.setRequestHeader("Content-Type", "application/octet-stream");
  call.setRequestHeader("X-CSRFToken", form.querySelector("[name=csrf_token]").value);
  return call;
}

function send(to) {
  const bar = document.getElementById("sent");
  const place = document.getElementById("state");
  const call = callTo(to);
  call.setRequestHeader("X-Leaseq-Piece", "state");
  call.upload.addEventListener("progress", (event) => {
    const share = event.total ? event.loaded / event.total : 1;
    bar.value = share;
    words.textContent = share < 1 ? words.dataset.words.replace("{percent}", Math.floor(share * 100)) : words.dataset.all;
  });
  call.addEventListener("error", () => (words.textContent = form.dataset.failed));
  call.addEventListener("loadend", () => (under_way = false));
  call.send(file);
  follow(to, place).then(() => (bar.hidden = true));
}

window.addEventListener("beforeunload", (event) => {
  if (under_way) event.preventDefault();
});
