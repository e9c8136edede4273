import htmx from "./htmx.js";

// <training-run data-events="…"> shows a training run as it goes on: the server sends it as HTML, over and over, and at its
// end the whole panel around it. Without this script a link shows how far it is.
class TrainingRun extends HTMLElement {
  #source = null;

  connectedCallback() {
    if (!this.dataset.events) return;
    this.#source = new EventSource(this.dataset.events);
    this.#source.addEventListener("run", ({ data }) => this.#show(data));
    this.#source.addEventListener("end", ({ data }) => this.#end(data));
  }

  disconnectedCallback() {
    this.#source?.close();
  }

  #show(html) {
    const open = [...this.querySelectorAll("details")].map((one) => one.open);
    const focused = [...this.querySelectorAll("[tabindex], summary")].indexOf(document.activeElement);
    this.innerHTML = html;
    this.querySelectorAll("details").forEach((one, index) => (one.open = open[index] ?? false));
    if (focused >= 0) this.querySelectorAll("[tabindex], summary")[focused]?.focus({ preventScroll: true });
  }

  #end(html) {
    this.#source.close();
    const panel = this.closest(".train");
    const exercise = panel.closest(".exercise");
    const held = panel.contains(document.activeElement) ? document.activeElement.id : null;
    const fresh = document.createRange().createContextualFragment(html).firstElementChild;
    panel.replaceWith(fresh);
    htmx.process(fresh);
    exercise.dataset.solved = fresh.dataset.solved;
    exercise.querySelector('[role="status"]').textContent = fresh.dataset.said;
    if (held !== null) (document.getElementById(held) ?? fresh.querySelector("button"))?.focus({ preventScroll: true });
  }
}

customElements.define("training-run", TrainingRun);
