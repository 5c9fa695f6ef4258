// Import: a look at the first piece of the file, a check of the whole, then the file itself: each with a bar.
import { follow } from "../shared/progress.js";
import { SignedOut, post, standsInTheWay } from "../shared/session.js";

const PIECE = 262144; // bytes of the file that are looked at
const form = document.getElementById("import");
const input = document.getElementById("file");
const drop = document.getElementById("drop");
const look = document.getElementById("look");
const sending = document.getElementById("sending");
const words = document.getElementById("sent-words");
document.documentElement.classList.add("scripted");
document.querySelector(".without-script").remove(); // the look at the file asks for the same, and more

let file = null;
let requestCount = 0;
let under_way = false;
let planned = null; // where a file that was checked is sent
let checking = null; // the call

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

// What is chosen in the page, without the file.
function choices() {
  const data = new FormData(form);
  data.delete("file");
  data.set("name", file.name);
  return data;
}

// What was checked was read by the choices of then.
function forget() {
  planned = null;
  checking?.abort();
  checking = null;
}

look.addEventListener("change", () => {
  forget();
  show();
});

// Other rows of the first piece; what was checked stays.
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
    look.innerHTML = text; // made by our own server
    if (focused) document.getElementById(focused)?.focus();
  } catch (error) {
    if (mine === requestCount) tell(error);
  }
}

// Why the file was not taken: in the place of what was told of it before.
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
  history.replaceState(null, "", to); // a reload tells what became of it
  form.hidden = true;
  sending.hidden = false;
  send(to);
});

// The session may have ended since the file was checked.
async function stillThere() {
  const why = await standsInTheWay(form);
  if (why) throw why === "out" ? new SignedOut() : new Error(why);
}

async function plan() {
  const answer = await post(form.dataset.plan, choices);
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

// The whole file is read by the server, and nothing of it imported: then it says which rows can be.
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
    if (!call.responseURL.endsWith(to)) again(new SignedOut()); // it led to where one signs in
    else if (call.status !== 200) again(new Error(call.status));
    else {
      place.innerHTML = call.responseText; // made by our own server
      look.querySelector(".findings")?.remove(); // the check says these, and more
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
