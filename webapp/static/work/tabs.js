// One item open in two tabs: only one is active, the other says so, and the input moves between them.
import { readFields } from "./form-fields.js";

const channel = new BroadcastChannel("leaseq-work");
const tabId = crypto.getRandomValues(new Uint32Array(2)).join("-");

export function begin(view) {
  if (!view.form.dataset.renewUrl) return;
  const { root, form, key, signal } = view;
  const notice = root.querySelector("#other-tab");
  const inputs = [form.querySelector(".fields"), form.querySelector(".bar")];
  let isSubmitted = false;

  const post = (kind, more = {}) => channel.postMessage({ kind, key, from: tabId, ...more });

  const setOpenElsewhere = (isOpenElsewhere) => {
    view.isOpenElsewhere = isOpenElsewhere;
    notice.hidden = !isOpenElsewhere;
    for (const element of inputs) element.inert = isOpenElsewhere;
  };

  const handlers = {
    opened: ({ from }) => view.isOpenElsewhere || post("active", { to: from }),
    active: () => {
      setOpenElsewhere(true);
      notice.querySelector("button").focus();
    },
    "take-over": ({ from }) => {
      if (view.isOpenElsewhere) return;
      post("hand-over", { to: from, pairs: readFields(form) });
      view.cancelDraft();
      setOpenElsewhere(true);
    },
    "hand-over": ({ pairs }) => view.fill(pairs),
    closed: ({ pairs }) => {
      if (!view.isOpenElsewhere) return;
      setOpenElsewhere(false);
      view.fill(pairs);
    },
    submitted: () => view.isOpenElsewhere && location.reload(),
  };

  channel.addEventListener("message", ({ data }) => {
    if (data.key === key && (data.to ?? tabId) === tabId) handlers[data.kind](data);
  }, { signal });
  notice.querySelector("button").addEventListener("click", () => {
    setOpenElsewhere(false);
    post("take-over");
    root.querySelector("#item").focus();
  });

  view.announceSubmission = () => {
    isSubmitted = true;
    post("submitted");
  };
  const announceClose = () => isSubmitted || view.isOpenElsewhere || post("closed", { pairs: readFields(form) });
  window.addEventListener("pagehide", announceClose, { signal });
  signal.addEventListener("abort", announceClose);
  post("opened");
}
