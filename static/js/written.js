// <written-sentences data-events="…"> waits for what an instructor writes for all who made a mistake that is shown: the
// server sends it as HTML, one part for each. Those of a page listen to one stream. Without this script it is there when
// the page is loaded again.
const streams = new Map(); // by address, the stream and how many wait for it

function show({ data }) {
  for (const part of document.createRange().createContextualFragment(data).children) {
    const place = document.getElementById(part.id);
    if (place && place.textContent !== part.textContent) place.innerHTML = part.innerHTML; // which is read aloud
  }
}

class WrittenSentences extends HTMLElement {
  connectedCallback() {
    const { events } = this.dataset;
    const stream = streams.get(events) ?? { source: new EventSource(events), waiting: 0 };
    if (!stream.waiting) {
      stream.source.addEventListener("written", show);
      stream.source.addEventListener("end", () => {
        stream.source.close();
        if (streams.get(events) === stream) streams.delete(events); // what goes wrong later opens another
      });
      streams.set(events, stream);
    }
    stream.waiting += 1;
    this.stream = stream;
  }

  disconnectedCallback() {
    this.stream.waiting -= 1;
    if (this.stream.waiting) return;
    this.stream.source.close();
    if (streams.get(this.dataset.events) === this.stream) streams.delete(this.dataset.events);
  }
}

customElements.define("written-sentences", WrittenSentences);
