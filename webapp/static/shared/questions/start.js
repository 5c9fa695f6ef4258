// Loads the scripts of questions that need one, and starts those that prepare their question.
const started = new WeakSet();

export async function startQuestions() {
  for (const question of document.querySelectorAll("[data-script]")) {
    if (started.has(question)) continue;
    started.add(question);
    for (const element of question.querySelectorAll("noscript")) element.remove(); // a fragment's has elements in it
    const { begin } = await import(question.dataset.script);
    if (question.isConnected) begin?.(question);
  }
}
