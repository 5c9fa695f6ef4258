// Import: previews the beginning of the file, checks the whole file, then imports it.
import { pollProgress } from "../shared/progress.js";
import { SignedOutError, checkSession, post } from "../shared/session.js";

const PREVIEW_BYTES = 262144; // of a text; a workbook can only be read whole
const form = document.getElementById("import");
const fileInput = document.getElementById("file");
const dropZone = document.getElementById("drop-zone");
const preview = document.getElementById("file-preview");
const uploadSection = document.getElementById("upload");
const uploadStatus = document.getElementById("upload-status");
document.documentElement.classList.add("scripted");
document.querySelector(".without-script").remove(); // the preview has the same fields, and more

let file = null;
let changeCount = 0; // of the file and of the choices
let shownChanges = 0; // `changeCount` of the choices that the preview shows
let latestPreview = null; // the promise of the preview that was requested last
let isBusy = false;
let plan = null; // the URLs to which this file is sent, once the server has them
let checkRequest = null; // the request that checks the file

fileInput.addEventListener("change", () => selectFile(fileInput.files[0]));
for (const id of ["format", "encoding", "header-line"]) {
  document.getElementById(id).addEventListener("change", () => {
    discardCheck();
    if (file) updatePreview();
  });
}
for (const name of ["dragenter", "dragover"]) dropZone.addEventListener(name, (event) => markDropZone(event, true));
dropZone.addEventListener("dragleave", (event) => markDropZone(event, false));
dropZone.addEventListener("drop", (event) => {
  markDropZone(event, false);
  if (!event.dataTransfer.files.length) return;
  fileInput.files = event.dataTransfer.files;
  selectFile(fileInput.files[0]);
});

function markDropZone(event, isDraggedOver) {
  event.preventDefault();
  dropZone.classList.toggle("drag-over", isDraggedOver);
}

function selectFile(newFile) {
  file = newFile ?? null;
  discardCheck();
  preview.replaceChildren();
  if (file) updatePreview();
}

// The form's fields, with the file's name instead of the file.
function readFields() {
  const data = new FormData(form);
  data.delete("file");
  data.set("name", file.name);
  return data;
}

// Discards a check, which was made with another file or other choices.
function discardCheck() {
  changeCount++;
  plan = null;
  checkRequest?.abort();
  checkRequest = null;
}

preview.addEventListener("change", () => {
  discardCheck();
  updatePreview();
});

// Chooses a column for the part of the item that a note proposes.
preview.addEventListener("click", (event) => {
  const { choose, column } = event.target.closest("[data-choose]")?.dataset ?? {};
  if (!choose) return;
  const select = document.getElementById(choose);
  select.value = column;
  select.focus();
  select.dispatchEvent(new Event("change", { bubbles: true }));
});

// Shows other rows of the preview; the result of a check stays.
preview.addEventListener("click", async (event) => {
  const clicked = event.target.closest("[data-start]");
  if (!clicked) return;
  preview.querySelector("[name=start]").value = clicked.dataset.start;
  await updatePreview();
  const button = document.getElementById(clicked.id);
  (button?.disabled ? preview.querySelector("[data-start]:not(:disabled)") : button)?.focus();
});

const isWorkbook = (format) => (format ? format === "xlsx" : /\.xlsx$/i.test(file.name));

// The form's fields and the beginning of the file, or the whole of a workbook.
function readFieldsAndPiece() {
  const data = readFields();
  const isWhole = file.size <= PREVIEW_BYTES || isWorkbook(data.get("format"));
  data.set("piece", isWhole ? file : file.slice(0, PREVIEW_BYTES), "piece");
  data.set("whole", isWhole ? "yes" : "no");
  return data;
}

function updatePreview() {
  const request = requestPreview(changeCount, () => request === latestPreview);
  latestPreview = request;
  return request;
}

// Replaces the preview, unless a later one was requested meanwhile.
async function requestPreview(changes, isLatest) {
  try {
    const response = await post(form.dataset.previewUrl, readFieldsAndPiece);
    const html = await response.text();
    if (!isLatest()) return;
    const focusedId = document.activeElement?.id;
    const checkResult = document.getElementById("check-result");
    preview.innerHTML = html; // from our own server
    if (changes === shownChanges) document.getElementById("check-result")?.replaceWith(checkResult);
    shownChanges = changes;
    if (preview.querySelector(".error")) document.querySelector(".reading").open = true;
    if (focusedId) document.getElementById(focusedId)?.focus();
  } catch (error) {
    if (isLatest()) showError(error);
  }
}

// Resolves when the preview shows the present choices, or why it can't.
async function awaitPreview() {
  let awaited;
  while (awaited !== latestPreview) await (awaited = latestPreview);
}

// Shows why the file could not be sent, instead of an earlier reason.
function showError(error) {
  const message = preview.querySelector(":scope > .error.upload-error") ?? document.createElement("p");
  message.className = "error upload-error";
  message.textContent = error instanceof SignedOutError ? form.dataset.signedOut : form.dataset.unavailable;
  preview.prepend(message);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!file || isBusy || checkRequest) return;
  const pressed = event.submitter?.textContent;
  let url;
  isBusy = true;
  try {
    await awaitPreview(); // its button may be another one
    const button = preview.querySelector("#check, #import-button");
    if (!button || button.textContent !== pressed) return;
    const changes = changeCount;
    let target = plan;
    if (target) await requireSession();
    else target = await createPlan();
    if (changes !== changeCount) return; // the preview of the new choices follows
    plan = target;
    if (button.id === "check") return checkFile(plan.check);
    if (target.queue && !(target = await createQueue(target.queue))) return;
    url = target.to;
  } catch (error) {
    showError(error);
    return;
  } finally {
    isBusy = false;
  }
  isBusy = true;
  history.replaceState(null, "", url); // a reload shows the import's result
  form.hidden = true;
  uploadSection.hidden = false;
  uploadSection.focus();
  importFile(url);
});

// Throws if the session has ended since the file was checked.
async function requireSession() {
  const problem = await checkSession(form);
  if (problem) throw problem === "signed-out" ? new SignedOutError() : new Error(problem);
}

async function createPlan() {
  const response = await post(form.dataset.planUrl, readFields);
  if (!response.ok) throw new Error(response.status);
  return response.json();
}

// Creates the queue of a plan that has none yet. The plan with the queue, or null: the preview says why it is refused.
async function createQueue(url) {
  const response = await post(url, readFieldsAndPiece);
  if (response.ok) return response.json();
  if (response.status !== 400) throw new Error(response.status);
  preview.innerHTML = await response.text(); // from our own server
  return null;
}

// The server reads the whole file without importing it, and reports which rows can be imported.
function checkFile(url) {
  const result = document.getElementById("check-result");
  const button = document.getElementById("check");
  const progressBar = document.getElementById("check-progress");
  const request = openRequest(url);
  checkRequest = request;
  button.disabled = true;
  document.getElementById("check-upload").hidden = false;
  request.upload.addEventListener("progress", (event) => (progressBar.value = sentShare(event)));
  request.addEventListener("abort", () => (button.disabled = false));
  request.addEventListener("error", () => fail(new Error("connection lost")));
  request.addEventListener("load", () => {
    checkRequest = null;
    if (!request.responseURL.endsWith(url)) fail(new SignedOutError()); // redirected to the sign-in page
    else if (request.status !== 200) fail(new Error(request.status));
    else {
      result.innerHTML = request.responseText; // from our own server
      preview.querySelector(".findings")?.remove(); // the check reports these, and more
      result.focus();
    }
  });
  request.send(file);

  function fail(error) {
    discardCheck();
    button.disabled = false;
    document.getElementById("check-upload").hidden = true;
    showError(error);
  }
}

function openRequest(url) {
  const request = new XMLHttpRequest();
  request.open("POST", url);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.setRequestHeader("X-CSRFToken", form.querySelector("[name=csrf_token]").value);
  return request;
}

const sentShare = (event) => (event.total ? event.loaded / event.total : 1);

function importFile(url) {
  const progressBar = document.getElementById("upload-progress");
  const request = openRequest(url);
  request.setRequestHeader("X-Leaseq-Fragment", "state");
  request.upload.addEventListener("progress", (event) => {
    const share = sentShare(event);
    progressBar.value = share;
    const percent = Math.floor(share * 100);
    const { dataset } = uploadStatus;
    uploadStatus.textContent = share < 1 ? dataset.percentSent.replace("{percent}", percent) : dataset.allSent;
  });
  request.addEventListener("error", () => (uploadStatus.textContent = form.dataset.interrupted));
  request.addEventListener("loadend", () => (isBusy = false));
  request.send(file);
  pollProgress(url, document.getElementById("state")).then(() => (progressBar.hidden = true));
}

window.addEventListener("beforeunload", (event) => {
  if (isBusy) event.preventDefault();
});

if (fileInput.files.length) selectFile(fileInput.files[0]); // it was chosen before this script ran
