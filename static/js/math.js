// Sets every .math element with KaTeX. Without JavaScript the TeX source stays readable in its place.
// KaTeX styles its nodes through the CSSOM, which a strict style-src allows; the MathML beside it is what screen readers read.
import katex from "katex";

const macros = { "\\R": "\\mathbb{R}" };

function typeset(root) {
  for (const element of root.querySelectorAll(".math:not([data-set])")) {
    element.dataset.set = "true";
    const displayMode = element.dataset.display === "true";
    katex.render(element.textContent, element, { displayMode, throwOnError: false, strict: false, trust: false, output: "htmlAndMathml", macros: { ...macros } });
    if (displayMode) scrollable(element);
  }
}

// A formula that is wider than the page scrolls inside its own box, which the keyboard must reach.
function scrollable(element) {
  if (element.scrollWidth <= element.clientWidth + 1) return;
  element.tabIndex = 0;
  element.setAttribute("role", "region");
  element.setAttribute("aria-label", "Formula, scrolls sideways");
}

typeset(document);
document.addEventListener("htmx:after:swap", () => typeset(document));
document.fonts.ready.then(() => document.querySelectorAll('.math[data-display="true"]').forEach(scrollable));
