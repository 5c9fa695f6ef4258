// Sends the files of a question one after another, as soon as they are chosen or dropped. A sent file is a ticked box;
// one that is being sent, or could not be, is a row with buttons.
import { addFile, formatBytes } from "./file-list.js";
import { requestSession } from "../session.js";

const ANSWERED = /^2/; // statuses
const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000]; // without a connection

export function begin(question) {
  const input = question.querySelector("input[type=file]");
  if (!input) return; // no files are kept here
  const url = question.closest("form")?.dataset.filesUrl;
  input.removeAttribute("name"); // the file itself is no part of the form
  input.disabled = !url; // in a preview
  if (!url) return;
  question.sending = Promise.resolve();
  input.addEventListener("change", () => {
    const files = [...input.files];
    input.value = "";
    sendFiles(question, files);
  });
  const drop = question.querySelector(".drop");
  question.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  question.addEventListener("dragleave", (event) => {
    if (!question.contains(event.relatedTarget)) drop.classList.remove("over");
  });
  question.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    sendFiles(question, [...event.dataTransfer.files]);
  });
  linkFiles(question);
  question.closest("form").addEventListener("filled", () => linkFiles(question));
}

const rowsOf = (question) => [...question.querySelectorAll(".unsent-file:not(.refused)")];
const boxesOf = (question) => [...question.querySelectorAll(".file-list input:checked")];

function sendFiles(question, files) {
  const max = Number(question.dataset.max);
  question.leftOut = [];
  for (const file of files) {
    const taken = boxesOf(question);
    if (max === 1 && files.length === 1) for (const box of taken) box.checked = false; // the new one takes its place
    else if (taken.length + rowsOf(question).length >= max) {
      question.leftOut.push(file.name);
      continue;
    }
    addRow(question, file);
  }
  say(question, "");
}

function addRow(question, file) {
  const row = question.querySelector("template.sending").content.querySelector("li").cloneNode(true);
  row.querySelector("[dir=auto]").textContent = file.name;
  row.querySelector("progress").setAttribute("aria-label", file.name);
  row.file = file;
  question.querySelector(".file-list").append(row);
  schedule(question, row);
}

function schedule(question, row) {
  const fault = faultOf(question, row.file);
  if (fault) return showFailure(row, fault, false);
  showProgress(row, 0);
  question.sending = question.sending.then(() => row.isConnected && send(question, row));
}

// What is wrong with the file itself, so that trying again would be of no use.
function faultOf({ dataset }, file) {
  const types = dataset.types ? dataset.types.split(",") : [];
  if (!file.size) return dataset.empty;
  if (dataset.maxBytes && file.size > Number(dataset.maxBytes)) return dataset.large;
  return file.type && types.length && !types.includes(file.type.toLowerCase()) ? dataset.kinds : "";
}

async function send(question, row) {
  const form = question.closest("form");
  try {
    const upload = await announce(form, question, row.file);
    await transfer(form, upload, row);
    row.remove();
    addFile(question, JSON.stringify(upload.file));
    linkFiles(question);
    say(question, "sent", upload.file.name);
    question.dispatchEvent(new Event("input", { bubbles: true }));
  } catch (error) {
    if (!row.isConnected) return;
    showFailure(row, question.dataset[error.message] ?? error.message, true);
    row.isOffline = error.message === "offline";
    row.tries = (row.tries ?? 0) + 1;
    if (row.isOffline) setTimeout(retryOffline, RETRY_MS[Math.min(row.tries, RETRY_MS.length) - 1], row);
  }
}

function retryOffline(row) {
  if (row.isConnected && row.isOffline) schedule(row.closest("fieldset"), row);
}

// Asks where to send the file. A CSRF token of an earlier session is replaced once.
async function announce(form, question, { name, size, type }, isAgain = false) {
  const body = JSON.stringify({ token: Number(form.elements.token.value), question: question.dataset.name, name, size, type });
  const headers = { "Content-Type": "application/json", "X-CSRFToken": form.elements.csrf_token.value };
  const response = await fetch(form.dataset.filesUrl, { method: "POST", body, headers, redirect: "manual" }).catch(() => null);
  if (!response || response.status >= 500) throw new Error(response ? "unavailable" : "offline");
  if (response.ok) return response.json();
  if (response.status === 401 || response.status === 403) {
    const { session } = isAgain ? {} : await requestSession();
    if (session?.person !== document.body.dataset.person || !session) throw new Error("signedOut");
    form.elements.csrf_token.value = session.csrf;
    return announce(form, question, { name, size, type }, true);
  }
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.detail || "unavailable");
}

function transfer(form, { url, fields }, row) {
  const isForm = Object.keys(fields).length > 0;
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    const fail = (reason) => () => reject(new Error(reason));
    request.open(isForm ? "POST" : "PUT", url);
    request.upload.addEventListener("progress", ({ loaded, total }) => (row.isConnected ? showProgress(row, loaded / total) : request.abort()));
    request.addEventListener("load", () => (ANSWERED.test(request.status) ? resolve() : reject(new Error("unavailable"))));
    request.addEventListener("error", fail("offline"));
    request.addEventListener("abort", fail("offline"));
    row.request = request;
    if (isForm) return request.send(formOf(fields, row.file));
    request.setRequestHeader("X-CSRFToken", form.elements.csrf_token.value);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.send(row.file);
  });
}

function formOf(fields, file) {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append("file", file);
  return data;
}

function showProgress(row, share) {
  row.classList.remove("failed");
  row.isOffline = false;
  row.querySelector("progress").value = share;
  row.querySelector(".help").textContent = `${Math.floor(share * 100)} % · ${formatBytes(row.file.size)}`;
  row.querySelector(".error").textContent = "";
  row.querySelector("[data-file-action=retry]").hidden = true;
  nameCancel(row, "cancel");
}

function showFailure(row, text, isRetryable) {
  row.classList.add("failed");
  row.classList.toggle("refused", !isRetryable);
  row.querySelector(".error").textContent = text;
  row.querySelector(".help").textContent = "";
  row.querySelector("[data-file-action=retry]").hidden = !isRetryable;
  nameCancel(row, "remove");
}

function nameCancel(row, what) {
  const button = row.querySelector("[data-file-action=cancel]");
  button.textContent = button.dataset[what];
}

// A text of the question, with the file's name, and which of the chosen files found no room.
function say(question, what, name = "") {
  const texts = what ? [question.dataset[what].replace("{name}", name)] : [];
  if (question.leftOut?.length) texts.push(`${question.dataset.full} ${question.leftOut.join(", ")}`);
  question.querySelector("[role=status]").textContent = texts.join(" ");
}

// The names of sent files lead to them.
function linkFiles(question) {
  const base = question.closest("form").dataset.fileUrl;
  for (const box of question.querySelectorAll(".file-list input")) {
    const name = box.closest("li").querySelector("[dir=auto]");
    if (name.closest("li").querySelector("a")) continue;
    const link = Object.assign(document.createElement("a"), { href: base + JSON.parse(box.value).key.split("/").at(-1), textContent: "↓" });
    link.setAttribute("aria-label", `${question.dataset.download} ${name.textContent}`);
    link.title = question.dataset.download;
    box.closest("li").append(link);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-file-action]");
  if (!button) return;
  const row = button.closest("li");
  const question = row.closest("fieldset");
  if (button.dataset.fileAction === "retry") return schedule(question, row);
  row.remove();
  row.request?.abort();
  question.leftOut = [];
  say(question, "");
  question.querySelector("input[type=file]").focus();
});

window.addEventListener("online", () => {
  for (const row of document.querySelectorAll(".unsent-file")) retryOffline(row);
});

// An answer without a file that was chosen is not sent. A button with an address of its own gives the item back.
document.addEventListener(
  "submit",
  (event) => {
    const row = event.submitter?.hasAttribute("formaction") ? null : event.target.querySelector(".unsent-file");
    if (!row) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    say(row.closest("fieldset"), "unsent");
    row.querySelector("button:not([hidden])").focus();
  },
  { capture: true },
);

window.addEventListener("beforeunload", (event) => {
  if (document.querySelector(".unsent-file:not(.failed)")) event.preventDefault();
});
