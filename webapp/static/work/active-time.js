// Measures active time on an item: while the page is visible, up to AWAKE after each sign of activity.
const AWAKE = 30_000; // ms
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "input"];

export function begin(sheet) {
  const { form, signal } = sheet;
  const name = `leaseq active ${sheet.what} ${form.dataset.token}`;
  let total = Number(sessionStorage.getItem(name));
  let mark = inSight() ? performance.now() : null;

  const sign = () => {
    const now = performance.now();
    if (mark !== null) total += Math.min(now - mark, AWAKE);
    mark = inSight() ? now : null;
  };

  sheet.active = () => {
    sign();
    return Math.round(total);
  };
  for (const one of SIGNS) document.addEventListener(one, sign, { passive: true, signal });
  document.addEventListener("visibilitychange", sign, { signal });
  window.addEventListener("pagehide", () => sessionStorage.setItem(name, sheet.active()), { signal });
}

const inSight = () => document.visibilityState === "visible";
