// The factors of a product: the shape that they would give is said at once.
import { made, shapeText, show } from "../../../static/js/drawn.js";

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

document.querySelectorAll(".product").forEach(product);
