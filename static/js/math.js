// Sets every .math element with KaTeX. Without JavaScript the TeX source stays readable in its place.
// KaTeX styles its nodes through the CSSOM, which a strict style-src allows; the MathML beside it is what screen readers read.
import katex from "katex";

const macros = { "\\R": "\\mathbb{R}" };

// Not every screen reader reads MathML in the name of a control: such a control is named by its TeX.
function name(label) {
  if (label.control && !label.control.hasAttribute("aria-label")) {
    label.control.setAttribute("aria-label", label.textContent.trim().replace(/\s+/g, " "));
  }
}

// A full stop behind a formula must not begin a line, nor a bracket before it end one: browsers would allow both.
const SHORT = 40; // letters of TeX; a longer formula may itself need to be broken
function keepTogether(element) {
  const before = element.previousSibling;
  const after = element.nextSibling;
  const opening = before instanceof Text ? /[([“]+$/.exec(before.data) : null;
  const closing = after instanceof Text ? /^[.,;:!?)\]”’]+/.exec(after.data) : null;
  if ((!opening && !closing) || element.textContent.length > SHORT) return;
  const together = document.createElement("span");
  together.className = "together";
  element.replaceWith(together);
  together.append(opening ? opening[0] : "", element, closing ? closing[0] : "");
  if (opening) before.data = before.data.slice(0, opening.index);
  if (closing) after.data = after.data.slice(closing[0].length);
}

function typeset(root) {
  root.querySelectorAll("label:has(.math:not([data-set]))").forEach(name);
  for (const element of root.querySelectorAll(".math:not([data-set])")) {
    element.dataset.set = "true";
    const displayMode = element.dataset.display === "true";
    if (!displayMode) keepTogether(element);
    katex.render(element.textContent, element, { displayMode, throwOnError: false, strict: false, trust: false, output: "htmlAndMathml", macros: { ...macros } });
  }
}

// A formula that is wider than the page scrolls inside its own box, which the keyboard must reach.
function makeReachable() {
  for (const element of document.querySelectorAll('.math[data-display="true"]')) {
    const wide = element.scrollWidth > element.clientWidth;
    const attributes = { tabindex: "0", role: "region", "aria-label": "Formula, scrolls sideways" };
    for (const [name, value] of Object.entries(attributes)) {
      if (wide) element.setAttribute(name, value);
      else element.removeAttribute(name);
    }
  }
}

// A formula changes its width when its fonts arrive, the room for it when the window is turned.
const sizes = new ResizeObserver(makeReachable);

function setAll() {
  typeset(document);
  document.querySelectorAll('.math[data-display="true"], .katex-display .base').forEach((part) => sizes.observe(part));
  makeReachable();
}

setAll();
document.addEventListener("htmx:after:swap", setAll);
addEventListener("resize", makeReachable);
