// <live-board data-events="…"> shows what a class is stuck on: the server sends the board as HTML whenever it has changed.
// Without this script a link shows it as it is now. In a projection, arrow keys lead to the exercises beside this one, and
// the space bar freezes what is shown.
class LiveBoard extends HTMLElement {
  #source = null;
  #waiting = null;
  #frozen = false;

  connectedCallback() {
    this.#source = new EventSource(this.dataset.events);
    this.#source.addEventListener("board", ({ data }) => this.#come(data));
    document.querySelectorAll(".reload").forEach((one) => (one.hidden = true));
  }

  disconnectedCallback() {
    this.#source?.close();
  }

  /** Shows nothing new until it is asked again; then the newest. */
  freeze() {
    this.#frozen = !this.#frozen;
    if (!this.#frozen && this.#waiting !== null) this.#show(this.#waiting);
    this.toggleAttribute("data-frozen", this.#frozen);
    return this.#frozen;
  }

  #come(html) {
    if (this.#frozen) this.#waiting = html;
    else this.#show(html);
  }

  #show(html) {
    this.#waiting = null;
    const open = [...this.querySelectorAll("details")].map((one) => one.open);
    const held = this.contains(document.activeElement) ? document.activeElement : null;
    this.innerHTML = html;
    this.querySelectorAll("details").forEach((one, index) => (one.open = open[index] ?? false));
    if (held) this.querySelector(same(held))?.focus({ preventScroll: true });
  }
}

/** What finds an element again in a newer board: others may stand before it now. */
function same(element) {
  const label = element.getAttribute("aria-label");
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.href) return `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
  return label ? `[aria-label="${CSS.escape(label)}"]` : element.localName;
}

customElements.define("live-board", LiveBoard);

const freezer = document.querySelector("[data-freeze]");

if (freezer) {
  const board = document.querySelector("live-board");
  const freeze = () => freezer.setAttribute("aria-pressed", board.freeze());
  const go = (rel) => document.querySelector(`a[rel="${rel}"]`)?.click();
  const keys = { ArrowLeft: () => go("prev"), ArrowRight: () => go("next"), " ": freeze };
  freezer.hidden = false;
  freezer.addEventListener("click", freeze);
  document.addEventListener("keydown", (event) => {
    const elsewhere = event.target.closest("a, button, input, select, textarea, summary, [role=region]");
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || elsewhere || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}
