import { say } from "./code.js";

// <written-sentences data-events="…"> waits for what an instructor writes for all who made the mistake that is shown: the
// server sends it as HTML, one part for each gradient. Without this script it is there when the page is loaded again.
class WrittenSentences extends HTMLElement {
  #source = null;

  connectedCallback() {
    this.#source = new EventSource(this.dataset.events);
    this.#source.addEventListener("written", ({ data }) => this.#show(data));
    this.#source.addEventListener("end", () => this.#source.close());
  }

  disconnectedCallback() {
    this.#source?.close();
  }

  #show(html) {
    for (const part of document.createRange().createContextualFragment(html).children) {
      const place = document.getElementById(part.id);
      if (!place || place.textContent.trim() === part.textContent.trim()) continue;
      place.replaceChildren(...part.childNodes);
      if (place.textContent.trim()) say(this, place.textContent.trim());
    }
  }
}

customElements.define("written-sentences", WrittenSentences);
