// <code-box>: CodeMirror over a real <textarea>. The textarea stays in the form and always holds the text,
// so plain forms, htmx, drafts and tests never need to know that an editor lies over it.
import "./written.js"; // here, since whoever has a code box fetches this, and nobody else waits for sentences
import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { hanging } from "./indents.js";
import { methods } from "./methods.js";
import { normalised } from "./plain.js";
import { closeCard, namesIn, shapesFrom } from "./told.js";

const nonce = document.querySelector("link[nonce], script[nonce], style[nonce]")?.nonce ?? "";

const look = EditorView.theme({
  "&": { fontSize: "max(16px, .95rem)", backgroundColor: "var(--sheet)", color: "var(--ink)", maxHeight: "var(--tallest)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { overflow: "auto", fontFamily: "var(--mono)", lineHeight: "1.6", fontVariantLigatures: "none" },
  ".cm-content": { padding: "var(--half) 0", caretColor: "var(--ink)", minHeight: "4.8em" },
  ".cm-line": {
    padding: "0 var(--half) var(--room, 0) calc(.25rem + var(--indent, 0px) + var(--hanging))",
    textIndent: "calc(-1 * (var(--indent, 0px) + var(--hanging)))",
  },
  ".cm-told-below ~ br": { display: "none" },
  ".cm-cursor, .cm-dropCursor": { borderLeft: "2px solid var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--sheet)", color: "var(--ink-soft)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 .35rem 0 .6rem", minWidth: "2.2em" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "light-dark(#cfe3ea, #2c5564)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--wrong-soft)", outline: "1px solid var(--wrong)" },
  ".cm-tooltip": {
    backgroundColor: "var(--sheet)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius)",
    fontFamily: "var(--sans)",
    maxWidth: "min(40rem, 90vw)",
  },
  ".cm-tooltip-autocomplete.cm-tooltip > ul": { minWidth: "9em", fontFamily: "var(--mono)", maxHeight: "14em" },
  ".cm-tooltip-autocomplete.cm-tooltip > ul > li": { padding: ".15rem .5rem", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete.cm-tooltip > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: ".8" },
  ".cm-diagnostic": { padding: ".4rem .7rem", borderLeft: "4px solid var(--wrong)", whiteSpace: "pre-wrap" },
  ".cm-gutter-lint": { width: "1.1em" },
  ".cm-gutter-lint .cm-gutterElement": { padding: ".1em 0 0 .1em" },
  ".cm-lint-marker-error": {
    content: "none",
    width: ".85em",
    height: ".85em",
    marginTop: ".3em",
    borderRadius: "50%",
    backgroundColor: "var(--wrong)",
    border: "2px solid var(--sheet)",
    outline: "1px solid var(--wrong)",
  },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--wrong) 1.5px",
    textUnderlineOffset: "3px",
  },
});

// The editor lets Tab leave after an Escape of its own; one that closes the list of names, or a card, does the same.
function closeAndLetTabLeave(view) {
  if (![closeCompletion(view), closeCard(view)].includes(true)) return false;
  view.setTabFocusMode(2000);
  return true;
}

const NO_TENSORS = /(?:^|[^\w.])(?:torch|F|math|\d[\d.]*)\.$/;

const touched = matchMedia("(pointer: coarse)");
const KEYS = ["*", "-", "+", ",", ".", "(", ")", "[", "]", "=", "@", "_"];

function made(name, className, called) {
  const element = document.createElement(name);
  element.className = className;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", called);
  return element;
}

/** Names in scope come from what the server has read, and until then from the page (data-scope="X|(32, 100) ..."). */
function completions(scope) {
  return (context) => {
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    const from = word?.from ?? context.pos;
    const before = context.state.sliceDoc(Math.max(0, from - 40), from);
    if (before.endsWith(".")) return behindDot(before, from);
    if (!word && !context.explicit) return null;
    const options = new Map(scope.map((option) => [option.label, option]));
    for (const [, label] of context.state.doc.toString().matchAll(/^\s*([A-Za-z]\w*)\s*=[^=]/gm)) {
      if (!options.has(label)) options.set(label, { label, detail: "yours", type: "variable" });
    }
    for (const { name, shape } of namesIn(context.state)) options.set(name, { label: name, detail: shape, type: "variable" });
    const own = madeHere(context, from);
    if (own && !scope.some(({ label }) => label === own)) options.delete(own);
    const typed = word?.text ?? "";
    if (!context.explicit && options.has(typed)) return null; // the word is finished: Enter must stay Enter
    return { from, options: [...options.values()], validFor: /^\w*$/ };
  };
}

/** What the line of the cursor makes, and no line before it: a line cannot read that. */
function madeHere({ state }, from) {
  const line = state.doc.lineAt(from);
  const own = /^\s*([A-Za-z_]\w*)\s*=(?!=)/.exec(line.text.slice(0, from - line.from))?.[1];
  return own && !new RegExp(`^\\s*${own}\\s*=(?!=)`, "m").test(state.sliceDoc(0, line.from)) ? own : "";
}

function behindDot(before, from) {
  return NO_TENSORS.test(before) || !/[\w)\]]\.$/.test(before) ? null : { from, options: methods, validFor: /^\w*$/ };
}

function scopeOf(text) {
  return (text ?? "")
    .split(/;\s*/)
    .filter(Boolean)
    .map((item) => {
      const [label, detail = ""] = item.split("|");
      return { label, detail, type: detail.startsWith("(") ? "variable" : "namespace" };
    });
}

/**
 * Typing over a selection goes through the editor and never through the browser, which would keep the colour of the
 * selected text in a style attribute that the page's policy refuses.
 */
function typedOver(event, view) {
  const { from, to, empty } = view.state.selection.main;
  if (event.inputType !== "insertText" || event.data === null || event.isComposing || empty) return false;
  event.preventDefault();
  const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type" });
  if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, event.data, insert))) {
    view.dispatch(insert());
  }
  return true;
}

// Where the editor is fetched for a box that was touched, it takes the cursor over; else it waits until the box is left.
const FOR_THE_TOUCHED = document.querySelector("meta[name=editor][data-touched]") !== null;

// What takes the cursor out of a box is mostly a press; nothing moves under the finger before that has ended.
const PRESS_MS = 400;

class CodeBox extends HTMLElement {
  connectedCallback() {
    this.textarea = this.querySelector("textarea");
    if (!this.textarea || this.view) return;
    // Typing may begin in the textarea at once; the editor takes over when the box comes near the window.
    this.whenWithin("800px", () => this.upgrade());
  }

  /** Once, when the box is no further than *rootMargin* from what is seen. */
  whenWithin(rootMargin, act) {
    this.observer?.disconnect();
    this.observer = new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      act();
    }, { rootMargin });
    this.observer.observe(this);
  }

  disconnectedCallback() {
    this.observer?.disconnect();
    this.view?.destroy();
    this.view = undefined;
  }

  upgrade() {
    this.observer?.disconnect();
    const { textarea } = this;
    const inside = document.activeElement === textarea;
    if (this.view || (inside && !FOR_THE_TOUCHED)) return this.waitForBlur();
    const label = textarea.labels?.[0];
    this.view = new EditorView({ state: this.state(textarea.value, label) });
    textarea.before(this.view.dom);
    if (inside) this.takeOver(textarea);
    textarea.hidden = true;
    label?.addEventListener("click", () => this.view?.focus());
    this.addKeyRow();
    this.dataset.upgraded = "true";
    // The editor measures its lines when it is seen. Until then their numbers stand elsewhere, and are hidden.
    this.whenWithin("0px", () => this.view?.requestMeasure({ read: () => {}, write: () => (this.dataset.measured = "") }));
    this.mark();
  }

  takeOver({ selectionStart: anchor, selectionEnd: head }) {
    this.view.dispatch({ selection: { anchor, head } });
    this.view.focus();
  }

  waitForBlur() {
    if (this.view) return;
    const later = () => setTimeout(() => this.isConnected && this.upgrade(), PRESS_MS);
    this.textarea.addEventListener("blur", later, { once: true });
  }

  state(text, label) {
    const attributes = {
      "aria-label": this.textarea.getAttribute("aria-label") ?? label?.textContent?.trim() ?? "Python code",
      autocapitalize: "off",
      autocorrect: "off",
      autocomplete: "off",
      spellcheck: "false",
      "data-gramm": "false",
      id: `${this.textarea.id}-editor`,
    };
    const describedBy = this.textarea.getAttribute("aria-describedby");
    if (describedBy) attributes["aria-describedby"] = describedBy;
    return EditorState.create({
      doc: text,
      extensions: [
        nonce ? EditorView.cspNonce.of(nonce) : [],
        Prec.highest(
          keymap.of([
            { key: "Mod-Enter", run: () => this.press("check") },
            { key: "Shift-Enter", run: () => this.press("run") },
          ]),
        ),
        Prec.highest(EditorView.domEventHandlers({ beforeinput: typedOver })),
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        indentUnit.of("    "),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        Prec.highest(keymap.of([{ key: "Escape", run: closeAndLetTabLeave }])),
        autocompletion({ override: [completions(scopeOf(this.dataset.scope))], selectOnOpen: false, icons: false, aboveCursor: touched.matches }),
        this.dataset.shapes ? shapesFrom(this.dataset.shapes) : [],
        python(),
        syntaxHighlighting(classHighlighter),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
        EditorView.lineWrapping,
        hanging,
        EditorView.contentAttributes.of(attributes),
        EditorView.clipboardInputFilter.of((pasted) => this.plain(pasted, "The pasted text had")),
        EditorView.inputHandler.of((view, from, to, typed) => {
          const { text: put } = normalised(typed);
          if (put === typed) return false;
          view.dispatch({ changes: { from, to, insert: put }, selection: { anchor: from + put.length }, userEvent: "input.type" });
          return true;
        }),
        EditorView.updateListener.of((update) => update.docChanged && this.changed(update)),
        look,
      ],
    });
  }

  plain(pasted, subject) {
    const { text, replaced } = normalised(pasted);
    if (replaced.length) this.notice(`${subject} ${replaced.join(" and ")}; they are plain now.`);
    return text;
  }

  notice(message) {
    this.dispatchEvent(new CustomEvent("code-box:notice", { bubbles: true, detail: message }));
  }

  changed(update) {
    this.textarea.value = update.state.doc.toString();
    this.unmark(update);
    const own = update.transactions.some((one) => one.annotation(Transaction.remote));
    if (!own) this.textarea.dispatchEvent(new Event("input", { bubbles: true }));
  }

  press(action) {
    this.dispatchEvent(new CustomEvent("code-box:press", { bubbles: true, detail: action }));
    return true;
  }

  get value() {
    return this.view ? this.view.state.doc.toString() : this.textarea.value;
  }

  /** Put *text* in place of what is there, as one step that undo takes back. */
  set value(text) {
    if (!this.view) {
      this.textarea.value = text;
    } else if (text !== this.view.state.doc.toString()) {
      this.view.dispatch({
        changes: { from: 0, to: this.view.state.doc.length, insert: text },
        annotations: Transaction.remote.of(true),
      });
    }
  }

  focus(options) {
    (this.view ?? this.textarea).focus(options);
  }

  insert(text) {
    this.view?.dispatch(this.view.state.replaceSelection(text), { userEvent: "input.type" });
    this.view?.focus();
  }

  /** What was said of a line is not said of what stands there now. */
  unmark({ startState, changes }) {
    const kept = [];
    let marked = 0;
    forEachDiagnostic(startState, (one, from, to) => {
      marked++;
      if (!changes.touchesRange(from, to)) kept.push({ ...one, from: changes.mapPos(from), to: changes.mapPos(to) });
    });
    if (kept.length < marked) this.view.dispatch(setDiagnostics(this.view.state, kept));
  }

  /** Show in the gutter what the verdict says about single lines; one about an earlier text says nothing of these. */
  mark() {
    const owner = this.closest("[data-exercise], section, article") ?? document;
    if (!this.view || owner.querySelector(".stale:not([hidden])")) return;
    const { doc } = this.view.state;
    const diagnostics = [];
    for (const element of owner.querySelectorAll("[data-line]")) {
      const number = Number(element.dataset.line);
      if (!(number >= 1 && number <= doc.lines)) continue;
      const line = doc.line(number);
      const from = line.from + (line.text.length - line.text.trimStart().length);
      const message = element.dataset.message || element.textContent.trim();
      diagnostics.push({ from: Math.min(from, line.to), to: line.to, severity: "error", message });
    }
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics.sort((a, b) => a.from - b.from)));
  }

  /** A phone's keyboard takes half of the window: what is typed in keeps its keys and buttons in sight. */
  aboveKeyboard() {
    const actions = this.closest("form").querySelector(".actions");
    const height = actions.getBoundingClientRect().bottom - this.getBoundingClientRect().top;
    (height < innerHeight ? actions : this.querySelector(".cm-activeLine"))?.scrollIntoView({ block: "nearest" });
  }

  /** What a phone's keyboard hides, and the names of the box: one row of each. */
  addKeyRow() {
    if (!touched.matches) return;
    const rows = made("div", "keyrow", "Keys that phones hide");
    const names = scopeOf(this.dataset.scope).map(({ label }) => label);
    for (const [keys, called] of [[names, "Names of this box"], [KEYS, "Signs"]]) {
      if (!keys.length) continue;
      const row = made("div", "", called);
      row.append(...keys.map((key) => this.key(key)));
      rows.append(row);
    }
    this.textarea.after(rows);
  }

  key(text) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", `Type ${text}`);
    button.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the phone's keyboard open
    button.addEventListener("click", () => this.insert(text));
    return button;
  }
}

customElements.define("code-box", CodeBox);
addEventListener("resize", () => touched.matches && document.activeElement?.closest("code-box")?.aboveKeyboard());
document.addEventListener("htmx:after:swap", () => {
  for (const box of document.querySelectorAll("code-box[data-upgraded]")) box.mark();
});

// What a press has opened comes into sight: on a phone it stands below a long verdict. A swap of our own has no press. The
// button of a hint is replaced with it, so what was pressed is told by what it fills.
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const ctx = detail?.ctx;
  if (!ctx?.sourceElement || !/-(history|solution|hints)$/.test(ctx.target?.id)) return;
  const filled = document.getElementById(ctx.target.id);
  const opened = filled?.querySelector(".hint:last-of-type") ?? filled;
  if (opened?.textContent.trim()) opened.scrollIntoView({ block: "nearest" });
});
