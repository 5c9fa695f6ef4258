// Lists whose rows are moved by dragging their grip, or by Alt and the arrow keys.

// `onMove(row)` is called after a move; `step` in `moveRow` is -1 or 1.
export function makeSortable(list, onMove) {
  list.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const row = rowOf(list, event.target);
    const isOnGrip = event.target.matches(".grip");
    if (!step || !row || event.defaultPrevented || !(event.altKey || isOnGrip) || event.target.matches("select, textarea")) return;
    event.preventDefault();
    if (moveRow(row, step)) onMove(row);
  });
  list.addEventListener("pointerdown", (event) => {
    const row = event.target.matches(".grip") && rowOf(list, event.target);
    if (row && event.button === 0 && event.target.closest("ol") === list) drag(row, event, onMove);
  });
}

const rowOf = (list, element) => [...list.children].find((row) => row.contains(element));

// Moves the row's neighbour, so that the row keeps the focus and the pointer.
export function moveRow(row, step) {
  const neighbour = step < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (!neighbour) return false;
  if (step < 0) row.after(neighbour);
  else row.before(neighbour);
  return true;
}

function drag(row, { target: grip, pointerId }, onMove) {
  const ending = new AbortController();
  const neighbours = [row.previousElementSibling, row.nextElementSibling];
  grip.setPointerCapture(pointerId);
  row.classList.add("dragged");
  grip.addEventListener("pointermove", ({ clientY }) => follow(row, clientY), ending);
  for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) grip.addEventListener(type, end, ending);

  function end() {
    ending.abort();
    row.classList.remove("dragged");
    const hasMoved = neighbours[0] !== row.previousElementSibling || neighbours[1] !== row.nextElementSibling;
    if (hasMoved) onMove(row);
  }
}

function follow(row, y) {
  const middleOf = (element) => element.getBoundingClientRect().top + element.offsetHeight / 2;
  const { previousElementSibling: previous, nextElementSibling: next } = row;
  if (previous && y < middleOf(previous)) moveRow(row, -1);
  else if (next && y > middleOf(next)) moveRow(row, 1);
}
