// A run as a laboratory: the pointer or the focus on an entry of a gradient tells which entries of the tensors that its
// line reads it came from, in words and as a lit place in the frame of each. Arrow keys go from entry to entry.
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** From and to, in whole places, of one part of an index such as `:`, `3`, `2:5`. */
function span(part, size) {
  const [from, to = ""] = part.split(":");
  if (part === ":") return [0, size];
  return part.includes(":") ? [Number(from), Number(to)] : [Number(from), Number(from) + 1];
}

function lit(figure, came) {
  const { tensor, rows, columns } = figure.dataset;
  const frame = figure.querySelector("svg");
  const rect = frame.querySelector(".lit");
  const found = new RegExp(`(?:^| )${tensor}(?:\\[([^\\]]*)\\])?(?=$|,? | and )`).exec(came);
  const parts = found?.[1]?.split(", ") ?? [":", ":"];
  const whole = [Number(rows), Number(columns)];
  // Of more axes than two, the rows stand below each other: a frame is lit as a whole, and the words say more.
  const spans = parts.length > 2 ? whole.map((size) => [0, size]) : whole.map((size, at) => span(parts[at - 2 + parts.length] ?? ":", size));
  const { width, height } = frame.viewBox.baseVal;
  const [[top, bottom], [left, right]] = found ? spans : [[0, 0], [0, 0]];
  const scale = [height / whole[0], width / whole[1]];
  const box = { x: left * scale[1], y: top * scale[0], width: (right - left) * scale[1], height: (bottom - top) * scale[0] };
  for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value);
}

function show(cell) {
  const seen = cell.closest(".seen");
  const { came, place } = cell.dataset;
  for (const one of seen.querySelectorAll("td[data-lit]")) delete one.dataset.lit;
  cell.dataset.lit = "";
  seen.querySelector(".came").textContent = `${seen.dataset.name}${place} came from ${came}.`;
  for (const figure of seen.querySelectorAll(".operand")) lit(figure, came);
}

function ready(root) {
  for (const table of root.querySelectorAll(".seen table:has(td[data-came])")) {
    const cells = table.querySelectorAll("td[data-came]");
    for (const cell of cells) cell.tabIndex = cell === cells[0] ? 0 : -1;
    for (const cell of cells) cell.setAttribute("aria-label", `${cell.textContent}, came from ${cell.dataset.came}`);
    show(cells[0]);
  }
}

function cellOf({ target }) {
  return target.closest?.(".seen td[data-came]");
}

document.addEventListener("pointerover", (event) => cellOf(event) && show(cellOf(event)));
document.addEventListener("focusin", (event) => cellOf(event) && show(cellOf(event)));
document.addEventListener("keydown", (event) => {
  const cell = cellOf(event);
  const step = cell && STEPS[event.key];
  if (!step) return;
  const { rows } = cell.closest("tbody");
  const to = rows[cell.parentElement.sectionRowIndex + step[0]]?.cells[cell.cellIndex + step[1]];
  event.preventDefault();
  if (!to?.dataset.came) return;
  [cell.tabIndex, to.tabIndex] = [-1, 0];
  to.focus();
});
document.addEventListener("htmx:after:swap", () => ready(document));
ready(document);
