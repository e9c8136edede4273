// Figures answer: what is pointed at, or come to by the arrow keys, lights up with all that it goes to, and is told in words.
const FIGURES = ".visual > .picture:has([data-path])";

/** The entries of *figure* that can be followed, each once. */
const entries = (figure) => [...new Map([...figure.querySelectorAll("[data-path]")].reverse().map((one) => [one.dataset.entry, one])).values()].reverse();

function light(figure, entry) {
  const lit = entry ? [entry.dataset.entry, ...entry.dataset.path.split(" ")] : [];
  figure.toggleAttribute("data-lit", Boolean(entry));
  for (const one of figure.querySelectorAll("[data-entry]")) {
    one.classList.toggle("on", lit.includes(one.dataset.entry));
    one.classList.toggle("at", one.dataset.entry === lit[0]);
  }
  figure.nextElementSibling.textContent = entry?.dataset.said ?? "";
}

function prepare(figure) {
  if (figure.dataset.ready) return;
  figure.dataset.ready = "";
  figure.tabIndex = 0;
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", "Figure: the arrow keys follow its entries");
  const said = document.createElement("p");
  said.className = "path-said";
  said.setAttribute("role", "status");
  figure.after(said);
  let at = -1;
  figure.addEventListener("pointerover", ({ target }) => light(figure, target.closest("[data-path]")));
  figure.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && light(figure, null));
  figure.addEventListener("focusout", () => light(figure, null));
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") light(figure, null);
    if (!step) return;
    event.preventDefault();
    const all = entries(figure);
    at = (at + step + all.length) % all.length;
    light(figure, all[at]);
  });
}

const prepareAll = () => document.querySelectorAll(FIGURES).forEach(prepare);
prepareAll();
document.addEventListener("htmx:after:swap", prepareAll);
