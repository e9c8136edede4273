// What kinds of questions say of shapes, and the elements that they say it with.
export function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** *parts*: plain strings and, in arrays of one, code. */
export function show(output, parts, fits = true) {
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

export function made(name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}
