// A ranking by buttons: pressing an option gives it the next place, pressing it again takes the place away. Without a
// script each place is a select; these stay in the form and hold the answer.

export function showRankings(form) {
  for (const list of form.querySelectorAll(".ranking")) show(form, list);
}

function show(form, list) {
  const selects = [...list.querySelectorAll("select")];
  const options = [...selects[0].options].filter(({ value }) => value);
  const buttons = options.map((option, index) => createButton(option, index + 1));
  const ranked = () => selects.map(({ value }) => value).filter(Boolean);

  const render = () => {
    for (const button of buttons) {
      const place = ranked().indexOf(button.value) + 1;
      button.setAttribute("aria-pressed", place > 0);
      button.querySelector(".place").textContent = place || "";
    }
  };
  const rank = (values) => {
    for (const [index, select] of selects.entries()) select.value = values[index] ?? "";
    render();
    selects[0].dispatchEvent(new Event("input", { bubbles: true }));
  };

  const group = document.createElement("div");
  group.className = "choices rank-options";
  for (const button of buttons) {
    group.append(button);
    button.addEventListener("click", () => {
      const others = ranked().filter((value) => value !== button.value);
      rank(others.length < ranked().length ? others : [...others, button.value]);
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
      const values = ranked();
      const place = values.indexOf(button.value);
      if (!step || place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const [other] = values.splice(place, 1);
      values.splice(Math.max(place + step, 0), 0, other);
      rank(values);
    });
  }
  list.hidden = true;
  list.after(group);
  form.addEventListener("filled", render);
  render();
}

function createButton(option, number) {
  const key = option.dataset.key ?? (number < 10 ? String(number) : "");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "choice rank-option";
  button.value = option.value;
  if (option.dataset.key) button.dataset.key = key;
  if (key) {
    button.setAttribute("aria-keyshortcuts", key.toUpperCase());
    button.append(Object.assign(document.createElement("kbd"), { ariaHidden: "true", textContent: key.toUpperCase() }));
  }
  const label = Object.assign(document.createElement("span"), { dir: "auto", textContent: option.textContent });
  button.append(label, Object.assign(document.createElement("span"), { className: "place" }));
  return button;
}
