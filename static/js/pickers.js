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

function made(name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

/** A tensor as cells: the last two axes as rows and columns, those before them as blocks. Each cell says where it is not first. */
function tensor(sizes) {
  const drawing = made("span", "cells");
  drawing.setAttribute("aria-hidden", "true");
  const rank = sizes.length;
  const shown = sizes.map((size, axis) => Math.min(size, axis < rank - 2 ? 2 : rank > 2 ? 4 : MOST[axis - rank + 2]));
  const fill = (parent, axis, later) => {
    if (axis === rank) {
      const cell = document.createElement("i");
      cell.dataset.later = later.join(" ");
      return parent.append(cell);
    }
    const inner = axis < rank - 1 ? () => parent.appendChild(made("span", axis < rank - 2 ? "block" : "cells-row")) : () => parent;
    for (let at = 0; at < shown[axis]; at++) fill(inner(), axis + 1, at ? [...later, axis - rank] : later);
  };
  fill(drawing, 0, []);
  return drawing;
}

function axes(picker) {
  const axes = [...picker.querySelectorAll(".axis")];
  const sizes = axes.map((axis) => Number(axis.dataset.size));
  const output = picker.querySelector("[data-result]");
  const leaves = new Map(picker.dataset.sums.split("; ").map((one) => one.split("|")));
  const drawing = tensor(sizes);
  picker.dataset.rank = sizes.length;
  output.before(drawing);
  const update = () => {
    const summed = axes.filter((axis) => axis.querySelector("input").checked).map((axis) => axis.dataset.axis);
    drawing.dataset.summed = summed.map((axis) => Number(axis) - sizes.length).join(" ");
    const left = leaves.get(summed.join(" ")) ?? shapeText(sizes);
    const over = summed.length > 1 ? `axes ${listed(summed)}` : `axis ${summed[0]}`;
    const said = summed.length ? `Summed over ${over}, ` : "Not summed, ";
    show(output, [said, [picker.dataset.source], " has the shape ", [left], "."]);
  };
  picker.addEventListener("change", update);
  update();
}

/** *shape* with its last two axes exchanged, as `.T` does it here. */
function turned(shape) {
  return shape.length < 2 ? shape : [...shape.slice(0, -2), shape.at(-1), shape.at(-2)];
}

const SVG = "http://www.w3.org/2000/svg";

/** A rectangle as high as there are rows and as wide as there are columns, on a scale that keeps both in sight. */
function area(shape) {
  const [height, width] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1].map((size) => 5 + 4 * Math.log2(size + 1));
  const svg = document.createElementNS(SVG, "svg");
  const rect = document.createElementNS(SVG, "rect");
  for (const one of [svg, rect]) {
    one.setAttribute("width", width.toFixed(0));
    one.setAttribute("height", height.toFixed(0));
  }
  svg.setAttribute("aria-hidden", "true");
  svg.append(rect);
  return svg;
}

/** Tiles and the places that they are put into, by a click, a key, or dragged; the fields underneath say what stands there. */
class Tiles {
  constructor(builder, factors) {
    this.factors = factors;
    this.tiles = made("div", "tiles");
    this.places = factors.map((_, side) => this.place(side));
    const options = [...factors[0].querySelectorAll("option[data-shape]")];
    for (const { value, dataset } of options) {
      const shape = dataset.shape.split(" ").filter(Boolean).map(Number);
      this.tiles.append(this.tile(value, shape), this.tile(`${value}.T`, turned(shape)));
    }
    const row = made("div", "places");
    row.append(this.places[0], made("span", "at", "@"), this.places[1]);
    const named = made("details", "by-name");
    named.append(made("summary", "", "Choose by name"), ...builder.querySelectorAll(".factor, .at"));
    builder.prepend(this.tiles, row, named);
  }

  tile(factor, shape) {
    const tile = made("button", "tile");
    tile.type = "button";
    tile.dataset.factor = factor;
    tile.append(area(shape), made("code", "", factor), made("span", "size", shapeText(shape)));
    tile.addEventListener("click", () => !this.dragged && this.add(factor));
    tile.addEventListener("pointerdown", (event) => this.drag(event, tile));
    return tile;
  }

  place(side) {
    const place = made("button", "place-for");
    place.type = "button";
    place.addEventListener("click", () => this.put("", side));
    return place;
  }

  /** Into the first place that is free; a tile after a whole product begins another one. */
  add(factor) {
    const empty = this.factors.findIndex((one) => !one.querySelector("select").value);
    if (empty < 0) this.factors.forEach((_, side) => this.put("", side));
    this.put(factor, Math.max(empty, 0));
  }

  put(factor, side) {
    const select = this.factors[side].querySelector("select");
    select.value = factor.replace(/\.T$/, "");
    this.factors[side].querySelector("input").checked = factor.endsWith(".T");
    select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  drag(down, tile) {
    const end = new AbortController();
    this.dragged = false;
    const at = (event) => this.places.findIndex((place) => {
      const box = place.getBoundingClientRect();
      return event.clientX > box.left - 8 && event.clientX < box.right + 8 && event.clientY > box.top - 8 && event.clientY < box.bottom + 8;
    });
    const over = (side) => this.places.forEach((place, one) => place.toggleAttribute("data-over", one === side));
    const drop = (event) => {
      end.abort();
      tile.style.translate = "";
      over(-1);
      const side = at(event);
      if (this.dragged && event.type === "pointerup" && side >= 0) this.put(tile.dataset.factor, side);
    };
    addEventListener("pointermove", (event) => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (!this.dragged && Math.hypot(x, y) < 6) return;
      this.dragged = true;
      tile.style.translate = `${x}px ${y}px`;
      over(at(event));
    }, { signal: end.signal });
    addEventListener("pointerup", drop, { signal: end.signal });
    addEventListener("pointercancel", drop, { signal: end.signal });
  }

  paint(chosen) {
    chosen.forEach(({ name, shape }, side) => {
      const which = side ? "Right" : "Left";
      const place = this.places[side];
      place.replaceChildren(...(name ? [area(shape), made("code", "", name), made("span", "size", shapeText(shape)), made("span", "taken-away", "×")] : [`${which} factor`]));
      place.setAttribute("aria-label", name ? `${which} factor: ${name}. Take it away` : `${which} factor: empty`);
      place.toggleAttribute("data-filled", Boolean(name));
    });
  }
}

function product(builder) {
  const factors = [...builder.querySelectorAll(".factor")];
  const output = builder.querySelector("[data-result]");
  const tiles = new Tiles(builder, factors);
  const update = () => {
    const chosen = factors.map((factor) => {
      const option = factor.querySelector("select").selectedOptions[0];
      const isTurned = factor.querySelector("input[type=checkbox]").checked;
      const shape = (option?.dataset.shape ?? "").split(" ").filter(Boolean).map(Number);
      return { name: option?.value ? option.value + (isTurned ? ".T" : "") : "", shape: isTurned ? turned(shape) : shape };
    });
    tiles.paint(chosen);
    if (chosen.some(({ shape }) => shape.length < 1)) return show(output, []);
    const [left, right] = chosen;
    const written = [`${left.name} @ ${right.name}`];
    const inner = [left.shape.at(-1), right.shape.at(-2) ?? right.shape[0]];
    const meeting = `${shapeText(left.shape)} @ ${shapeText(right.shape)}`;
    if (inner[0] !== inner[1]) {
      return show(output, [written, ": ", [meeting], `, but the inner sizes ${inner[0]} and ${inner[1]} differ.`], false);
    }
    const shape = [...left.shape.slice(0, -1), ...(right.shape.length > 1 ? right.shape.slice(-1) : [])];
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
