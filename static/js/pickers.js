// Answers that are built by choosing say at once what they would give: the axes of a sum, the factors of a product. Lines are moved.
const MOST = [5, 9]; // rows and columns of cells that are drawn of a tensor

function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** `0, 1 and 3` */
function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** *parts*: plain strings and, in arrays of one, code. */
function show(output, parts, fits = true) {
  output.replaceChildren(
    ...parts.map((part) => {
      if (!Array.isArray(part)) return part;
      const code = document.createElement("code");
      code.textContent = part[0];
      return code;
    }),
  );
  output.dataset.fits = fits ? "yes" : "no";
}

function tensor(sizes) {
  const element = document.createElement("span");
  element.className = "cells";
  element.setAttribute("aria-hidden", "true");
  for (let row = 0; row < Math.min(sizes[0], MOST[0]); row++) {
    const line = document.createElement("span");
    for (let column = 0; column < Math.min(sizes[1], MOST[1]); column++) line.append(document.createElement("i"));
    element.append(line);
  }
  return element;
}

function axes(picker) {
  const axes = [...picker.querySelectorAll(".axis")];
  const sizes = axes.map((axis) => Number(axis.dataset.size));
  const output = picker.querySelector("[data-result]");
  const leaves = new Map(picker.dataset.sums.split("; ").map((one) => one.split("|")));
  const drawing = sizes.length === 2 ? tensor(sizes) : null;
  if (drawing) {
    picker.dataset.rank = "2";
    output.before(drawing);
  }
  const update = () => {
    const summed = axes.filter((axis) => axis.querySelector("input").checked).map((axis) => axis.dataset.axis);
    if (drawing) drawing.dataset.summed = summed.join(" ");
    const left = leaves.get(summed.join(" ")) ?? shapeText(sizes);
    const over = summed.length > 1 ? `axes ${listed(summed)}` : `axis ${summed[0]}`;
    const said = summed.length ? `Summed over ${over}, ` : "Not summed, ";
    show(output, [said, [picker.dataset.source], " has the shape ", [left], "."]);
  };
  picker.addEventListener("change", update);
  update();
}

function product(builder) {
  const factors = [...builder.querySelectorAll(".factor")];
  const output = builder.querySelector("[data-result]");
  const update = () => {
    const chosen = factors.map((factor) => {
      const option = factor.querySelector("select").selectedOptions[0];
      const turned = factor.querySelector("input[type=checkbox]").checked;
      const shape = (option?.dataset.shape ?? "").split(" ").filter(Boolean).map(Number);
      return { name: option?.value + (turned ? ".T" : ""), shape: turned ? shape.reverse() : shape };
    });
    if (chosen.some(({ shape }) => shape.length < 1)) return show(output, []);
    const [left, right] = chosen;
    const written = [`${left.name} @ ${right.name}`];
    const inner = [left.shape.at(-1), right.shape.at(-2) ?? right.shape[0]];
    const meeting = `${shapeText(left.shape)} @ ${shapeText(right.shape)}`;
    if (inner[0] !== inner[1]) {
      return show(output, [written, ": ", [meeting], `, but the inner sizes ${inner[0]} and ${inner[1]} differ.`], false);
    }
    const shape = [...left.shape.slice(0, -1), ...right.shape.slice(1)];
    show(output, [written, ": ", [meeting], " → ", [shapeText(shape)]]);
  };
  builder.addEventListener("change", update);
  update();
}

/** Rows that are moved by buttons, or to the place that is written in front of them. */
function order(list) {
  const field = (row) => row.querySelector("[data-place]");
  const number = () => [...list.children].forEach((row, at) => (field(row).value = at + 1));
  const moved = (row) => {
    number();
    for (const one of list.children) one.toggleAttribute("data-moved", one === row);
    const status = row.closest(".exercise").querySelector("[role=status]");
    const said = row.querySelector(":scope > code, .step");
    const thing = said.matches(".step") ? "step" : "line";
    status.textContent = `${said.textContent.trim()} is now ${thing} ${field(row).value}.`;
  };
  list.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-move]");
    if (!button) return;
    const row = button.closest("li");
    if (button.dataset.move === "up") row.previousElementSibling?.before(row);
    else row.nextElementSibling?.after(row);
    button.focus();
    moved(row);
  });
  list.addEventListener("change", ({ target }) => {
    const row = target.closest("li");
    const others = [...list.children].filter((one) => one !== row);
    const at = Math.min(Math.max(Math.trunc(Number(target.value)) || 1, 1), others.length + 1) - 1;
    if (at < others.length) others[at].before(row);
    else others.at(-1)?.after(row);
    target.focus();
    moved(row);
  });
  list.querySelectorAll(".moves").forEach((moves) => (moves.hidden = false));
  number();
}

document.querySelectorAll(".axes").forEach(axes);
document.querySelectorAll(".lines").forEach(order);
document.querySelectorAll(".product").forEach(product);

// The feedback of a quiz is swapped, its field is not: the field is told what the feedback says.
document.addEventListener("htmx:after:swap", () => {
  for (const exercise of document.querySelectorAll(".quiz-sheet")) {
    const wrong = exercise.querySelector(".feedback")?.dataset.correct === "false";
    for (const input of exercise.querySelectorAll("input[type=text]:not([data-place])")) {
      if (wrong) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }
});
document.addEventListener("input", (event) => {
  if (event.target.matches(".quiz input[type=text]")) event.target.removeAttribute("aria-invalid");
});

// In a sheet, Enter goes down to the next row; the row that is left is sent, as by any other way of leaving it.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches(".rows input[type=text]")) return;
  event.preventDefault();
  const stops = [...event.target.form.querySelectorAll("input[type=text], button[data-action=answer]")];
  stops[stops.indexOf(event.target) + 1]?.focus();
});
