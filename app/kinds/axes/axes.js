// The axes of a sum: the shape that is left is said at once, and drawn.
import { made, shapeText, show } from "../../../static/js/drawn.js";

const MOST = [5, 9]; // rows and columns of cells that are drawn of a tensor

/** `0, 1 and 3` */
function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
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
    // What is summed may be a product: its shape is told, and not that of the gradient which it begins with.
    const said = summed.length ? `Summed over ${over}, the shape is ` : "Not summed, the shape is ";
    show(output, [said, [left], "."]);
  };
  picker.addEventListener("change", update);
  update();
}

document.querySelectorAll(".axes").forEach(axes);
