// The sent files of a question: a ticked box each, whose value is what the answer says of the file.

// Units of 1000, as webapp/rendering/filters.py writes them.
export function formatBytes(count) {
  const number = new Intl.NumberFormat(document.documentElement.lang || "en", { maximumFractionDigits: 1 });
  if (count < 1000) return `${number.format(count)} B`;
  return count < 999_950 ? `${number.format(count / 1000)} kB` : `${number.format(count / 1_000_000)} MB`;
}

// Adds a box for a file, unless there is one.
export function addFile(question, text) {
  const list = question.querySelector(".file-list");
  let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    // not of this question
  }
  const isShown = [...list.querySelectorAll("input")].some(({ value }) => value === text);
  if (isShown || typeof file?.name !== "string") return;
  const row = list.nextElementSibling.content.querySelector("li").cloneNode(true);
  row.querySelector("input").value = text;
  row.querySelector("[dir=auto]").textContent = file.name;
  row.querySelector(".help").textContent = formatBytes(file.size);
  list.append(row);
}

// Adds boxes for the files among pairs of a name and a text, and returns the names of all questions for files.
export function makeBoxes(form, pairs) {
  const questions = [...form.querySelectorAll("[data-kind=file]")].filter((question) => question.querySelector(".file-list"));
  for (const question of questions) {
    for (const [name, text] of pairs) if (name === nameOf(question)) addFile(question, text);
  }
  return questions.map(nameOf);
}

export const nameOf = (question) => `answer.${question.dataset.name}`;
