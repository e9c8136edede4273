// What a code box knows while it is typed in: the shape that each line gives stands behind it, shapes that cannot meet
// are underlined, and every name can be asked. The server reads the text and runs nothing; what it does not know it
// does not say. A newer text drops the question about an older one.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip, keymap, showTooltip, ViewPlugin, WidgetType } from "@codemirror/view";

const PAUSE = 150; // milliseconds after the last key
const SOON = 500;
const LATER = 5000; // where the server asks for a rest
const SMALLER = 0.86; // of the size of the code, as in code.css

const tell = StateEffect.define();
const ask = StateEffect.define();
const nothing = { lines: [], names: new Map() };

// Nothing moves under a pressed pointer: a button that went down a line would not be clicked.
let release = () => {};
let released = Promise.resolve();
function pressed() {
  release();
  released = new Promise((done) => (release = done));
}
addEventListener("pointerdown", pressed, true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(release), true);

class Shape extends WidgetType {
  constructor({ text, fits, start }, below) {
    super();
    Object.assign(this, { text, below, kind: start ? "collides" : fits === false ? "differs" : "plain" });
  }

  eq(other) {
    return other.text === this.text && other.kind === this.kind && other.below === this.below;
  }

  toDOM() {
    const outer = document.createElement("span");
    outer.className = `cm-told cm-told-${this.kind}${this.below ? " cm-told-below" : ""}`;
    // In a text box each line is read as it stands; whoever wants the shape asks for it with Ctrl+I.
    outer.ariaHidden = "true";
    outer.append(Object.assign(document.createElement("span"), { textContent: this.text }));
    return outer;
  }

  ignoreEvent() {
    return true;
  }
}

function columns(view) {
  return Math.floor((view.contentDOM.clientWidth - 24) / view.defaultCharacterWidth);
}

function decorated(state, { lines }, room, narrow) {
  const found = [];
  for (const told of lines) {
    if (told.line > state.doc.lines) continue;
    const line = state.doc.line(told.line);
    const below = narrow || line.length + 3 + told.text.length * SMALLER > room;
    found.push(Decoration.widget({ widget: new Shape(told, below), side: 1 }).range(line.to));
    const place = told.start && [told.start, told.end].map(([at, column]) => offset(state.doc, at, column));
    if (place && place[0] < place[1]) found.push(Decoration.mark({ class: "cm-collides" }).range(...place));
  }
  return Decoration.set(found, true);
}

function offset(doc, number, column) {
  const line = doc.line(Math.min(number, doc.lines));
  return Math.min(line.from + column, line.to);
}

/** What was told last, and how it is shown; both move along with what is typed meanwhile. */
const known = StateField.define({
  create: () => ({ told: nothing, shown: Decoration.none }),
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(tell)) return { told: effect.value.told, shown: decorated(transaction.state, effect.value.told, effect.value.room, effect.value.narrow) };
    }
    return transaction.docChanged ? { ...value, shown: value.shown.map(transaction.changes) } : value;
  },
  provide: (field) => EditorView.decorations.from(field, ({ shown }) => shown),
});

export function namesIn(state) {
  return [...(state.field(known, false)?.told.names.values() ?? [])];
}

/** Asks the server, one text at a time. */
class Asking {
  constructor(view, url) {
    Object.assign(this, { view, url, given: [], room: columns(view) });
    this.wake = () => this.given.length || this.soon(0);
    for (const event of ["focusin", "pointerenter"]) view.dom.addEventListener(event, this.wake);
  }

  update(update) {
    if (update.docChanged) {
      this.view.dom.dataset.asking = "";
      this.soon(PAUSE);
    }
    const room = columns(this.view);
    if (update.geometryChanged && room !== this.room) {
      this.room = room;
      queueMicrotask(() => this.show(this.view.state.field(known).told));
    }
  }

  soon(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), Math.max(pause, (this.rest ?? 0) - performance.now()));
  }

  async ask() {
    this.question?.abort();
    const question = (this.question = new AbortController());
    const body = new URLSearchParams({ code: this.view.state.doc.toString() });
    if (!this.given.length) body.set("given", "true");
    try {
      const answer = await fetch(this.url, { method: "POST", body, signal: question.signal, headers: { Accept: "application/json" } });
      if (answer.status === 429) this.rest = performance.now() + LATER;
      const { lines = [], names = [], later } = answer.ok ? await answer.json() : {};
      await released;
      if (question.signal.aborted) return;
      if (later) return this.soon(SOON); // the questions that this one dropped are still on their way
      if (body.has("given")) this.given = names.filter(({ line }) => !line);
      this.show({ lines, names: new Map([...this.given, ...names].map((one) => [one.name, one])) });
      delete this.view.dom.dataset.asking;
    } catch {
      // Dropped for a newer one, or no server: what is known stays.
    }
  }

  show(told) {
    const narrow = getComputedStyle(this.view.dom).getPropertyValue("--told").trim() === "below"; // in code.css
    this.view.dispatch({ effects: tell.of({ told, room: columns(this.view), narrow }) });
  }

  destroy() {
    clearTimeout(this.timer);
    this.question?.abort();
    for (const event of ["focusin", "pointerenter"]) this.view.dom.removeEventListener(event, this.wake);
  }
}

function wordAt(state, position) {
  const range = state.wordAt(position);
  return range && { range, name: state.field(known).told.names.get(state.sliceDoc(range.from, range.to)) };
}

function origin({ line, made }) {
  return line ? `made in line ${line}` : made ? `made by ${made}` : "given";
}

function sizes({ shape, numbers }) {
  return shape === numbers ? shape : `${shape} = ${numbers}`;
}

function card(name) {
  const dom = document.createElement("div");
  dom.className = "cm-name";
  const code = Object.assign(document.createElement("code"), { textContent: `${name.name} ${sizes(name)}` });
  dom.append(code, Object.assign(document.createElement("span"), { textContent: origin(name) }));
  return { dom };
}

function tooltip(state, position) {
  const found = wordAt(state, position);
  return found?.name ? { pos: found.range.from, end: found.range.to, above: true, create: () => card(found.name) } : null;
}

/** The card that a key has opened; the next key closes it. */
const asked = StateField.define({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(ask)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

/** Tells of the name at the cursor, or else of its line, to see and to hear. */
function askHere(view) {
  const { state } = view;
  const { head } = state.selection.main;
  const name = wordAt(state, head)?.name;
  const line = state.doc.lineAt(head).number;
  const told = state.field(known).told.lines.find((one) => one.line === line);
  view.dispatch({ effects: ask.of(tooltip(state, head)) });
  const sentence = name ? `${name.name} ${sizes(name)}, ${origin(name)}.` : told ? `Line ${line}: ${told.text}.` : "Nothing is known here yet.";
  view.dom.dispatchEvent(new CustomEvent("code-box:say", { bubbles: true, detail: sentence }));
  return true;
}

export function closeCard(view) {
  if (!view.state.field(asked, false)) return false;
  view.dispatch({ effects: ask.of(null) });
  return true;
}

/** Shapes behind the lines of a box, as the server at *url* tells them. */
export function shapesFrom(url) {
  return [
    known,
    asked,
    ViewPlugin.define((view) => new Asking(view, url)),
    hoverTooltip((view, position) => tooltip(view.state, position)),
    keymap.of([{ key: "Mod-i", run: askHere }]),
  ];
}
