// <written-sentences data-events="…"> waits for what an instructor writes for all who made the mistake that is shown: the
// server sends it as HTML, one part for each gradient. Without this script it is there when the page is loaded again.
class WrittenSentences extends HTMLElement {
  connectedCallback() {
    this.source = new EventSource(this.dataset.events);
    this.source.addEventListener("written", ({ data }) => {
      for (const part of document.createRange().createContextualFragment(data).children) {
        const place = document.getElementById(part.id);
        if (place && place.textContent !== part.textContent) place.innerHTML = part.innerHTML; // which is read aloud
      }
    });
    this.source.addEventListener("end", () => this.source.close());
  }

  disconnectedCallback() {
    this.source.close();
  }
}

customElements.define("written-sentences", WrittenSentences);
