import { say } from "./code.js";
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
    const before = this.querySelector(".run")?.dataset.phase;
    this.innerHTML = html;
    const { phase } = this.querySelector(".run").dataset;
    if (phase !== before) say(this, phase === "training" ? "Running." : this.querySelector(".word").textContent);
    this.querySelectorAll("details").forEach((one, index) => (one.open = open[index] ?? false));
    if (focused >= 0) this.querySelectorAll("[tabindex], summary")[focused]?.focus({ preventScroll: true });
  }

  #end(html) {
    this.#source.close();
    const exercise = this.closest(".exercise");
    const elsewhere = document.createRange().createContextualFragment(html).querySelectorAll('[hx-swap-oob="true"]');
    const fresh = replace(this.closest(".train"), html);
    exercise.dataset.solved = fresh.dataset.solved;
    exercise.querySelector('[role="status"]').textContent = fresh.dataset.said;
    // What is counted on this page, as after any other answer.
    for (const part of elsewhere) document.getElementById(part.id)?.replaceWith(part);
    document.dispatchEvent(new Event("htmx:after:swap"));
  }
}

customElements.define("training-run", TrainingRun);

/** Puts the panel that *html* begins with in the place of *panel*, and the focus back to where it was. */
function replace(panel, html) {
  const held = panel.contains(document.activeElement) ? document.activeElement.id : null;
  const fresh = document.createRange().createContextualFragment(html).firstElementChild;
  panel.replaceWith(fresh);
  htmx.process(fresh);
  if (held !== null) (document.getElementById(held) ?? fresh.querySelector("button"))?.focus({ preventScroll: true });
  return fresh;
}

// A check makes one more attempt to train with. A run that is under way brings the list with its end.
document.addEventListener("htmx:finally:request", async ({ detail: { ctx } }) => {
  const { form } = ctx.request;
  if (!form?.querySelector("code-box")) return;
  const box = form.closest(".exercise")?.dataset.exercise; // none where the form itself was replaced: no check does that
  if (!box) return;
  for (const { id, dataset } of document.querySelectorAll(`.train[data-box="${CSS.escape(box)}"]`)) {
    const answer = await fetch(dataset.url, { headers: { "HX-Request": "true" } }).catch(() => null);
    const panel = document.getElementById(id);
    if (!answer?.ok || panel.querySelector("[data-events]")) continue;
    const html = await answer.text();
    const chosen = panel.querySelector('input[name="preset"]:checked')?.id;
    const fresh = replace(panel, html);
    if (chosen) fresh.querySelector(`#${CSS.escape(chosen)}`).checked = true;
  }
});
