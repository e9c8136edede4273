// Formulas stand in the page as the server set them; what is done here depends on how wide they come out.

// What is wider than the page scrolls inside of its own box, which the keyboard must reach.
const REACHED = { tabindex: "0", role: "region", "aria-label": "Formula, scrolls sideways" };
function makeReachable(box) {
  const wide = box.scrollWidth > box.clientWidth;
  for (const [name, value] of Object.entries(REACHED)) wide ? box.setAttribute(name, value) : box.removeAttribute(name);
}

// Chromium keeps room behind every root for the widest of its signs, whichever it draws.
function closeUp(root) {
  const room = root.getBoundingClientRect().right - root.lastElementChild.getBoundingClientRect().right;
  root.style.marginInlineEnd = room > 2 ? `${1 - room}px` : "";
}

const widths = new ResizeObserver((changed) => {
  for (const { target } of changed) {
    if (target.localName === "msqrt") closeUp(target);
    else makeReachable(target.closest(".math"));
  }
});
const watch = () => document.querySelectorAll(".math, .math > math, msqrt").forEach((one) => widths.observe(one));
watch();
document.addEventListener("htmx:after:swap", watch);
