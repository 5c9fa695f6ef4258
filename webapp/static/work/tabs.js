// One item open in two tabs: only one is active, the other says so, and what was typed moves between them.
import { typed } from "./form-fields.js";

const channel = new BroadcastChannel("leaseq-work");
const me = crypto.getRandomValues(new Uint32Array(2)).join("-");

export function begin(sheet) {
  if (!sheet.form.dataset.renew) return;
  const { root, form, what, signal } = sheet;
  const note = root.querySelector("#elsewhere");
  const fields = [form.querySelector(".fields"), form.querySelector(".bar")];
  let isDone = false;

  const post = (kind, more = {}) => channel.postMessage({ kind, what, from: me, ...more });

  const rest = (elsewhere) => {
    sheet.elsewhere = elsewhere;
    note.hidden = !elsewhere;
    for (const place of fields) place.inert = elsewhere;
  };

  const heard = {
    here: ({ from }) => sheet.elsewhere || post("mine", { to: from }),
    mine: () => {
      rest(true);
      note.querySelector("button").focus();
    },
    take: ({ from }) => {
      if (sheet.elsewhere) return;
      post("yours", { to: from, pairs: typed(form) });
      sheet.stopDraft();
      rest(true);
    },
    yours: ({ pairs }) => sheet.filled(pairs),
    left: ({ pairs }) => {
      if (!sheet.elsewhere) return;
      rest(false);
      sheet.filled(pairs);
    },
    done: () => sheet.elsewhere && location.reload(),
  };

  channel.addEventListener("message", ({ data }) => {
    if (data.what === what && (data.to ?? me) === me) heard[data.kind](data);
  }, { signal });
  note.querySelector("button").addEventListener("click", () => {
    rest(false);
    post("take");
    root.querySelector("#item").focus();
  });

  sheet.done = () => {
    isDone = true;
    post("done");
  };
  const leave = () => isDone || sheet.elsewhere || post("left", { pairs: typed(form) });
  window.addEventListener("pagehide", leave, { signal });
  signal.addEventListener("abort", leave);
  post("here");
}
