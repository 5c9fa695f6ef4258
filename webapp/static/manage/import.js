// Import: a look at the file before anything is sent, then the file itself with a bar that tells how far it is.
import { follow } from "../shared/progress.js";
import { SignedOut, post } from "../shared/session.js";

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
let asked = 0;
let under_way = false;

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

look.addEventListener("change", () => show());

async function show() {
  const mine = ++asked;
  const piece = () => {
    const data = choices();
    data.set("piece", file.slice(0, PIECE), "piece");
    data.set("whole", file.size <= PIECE ? "yes" : "no");
    return data;
  };
  try {
    const answer = await post(form.dataset.look, piece);
    const text = await answer.text();
    if (mine !== asked) return;
    const focused = document.activeElement?.id;
    look.innerHTML = text; // made by our own server
    if (focused) document.getElementById(focused)?.focus();
  } catch (error) {
    if (mine === asked) tell(error);
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
  if (!file || under_way) return;
  under_way = true;
  let to;
  try {
    const answer = await post(form.dataset.plan, choices);
    if (!answer.ok) throw new Error(answer.status);
    to = (await answer.json()).to;
  } catch (error) {
    under_way = false;
    tell(error);
    return;
  }
  history.replaceState(null, "", to); // a reload tells what became of it
  form.hidden = true;
  sending.hidden = false;
  send(to);
});

function send(to) {
  const bar = document.getElementById("sent");
  const place = document.getElementById("state");
  const call = new XMLHttpRequest();
  call.open("POST", to);
  call.setRequestHeader("Content-Type", "application/octet-stream");
  call.setRequestHeader("X-CSRFToken", form.querySelector("[name=csrf_token]").value);
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
