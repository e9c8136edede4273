// Never lose text: one second after the last key, and when the page is left, every code box is saved.
// Until the server has it, the text also lies in this browser. A save carries the revision it started from,
// so that two tabs never overwrite each other: the server keeps both texts, and asks which one is wanted.
import { say } from "./code.js";

const PAUSE = 1000;
const AGAIN = 15_000;

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

class Draft {
  constructor(form) {
    this.form = form;
    this.textarea = form.querySelector("textarea[name=code]");
    this.url = form.dataset.draft;
    // One copy for each page that is open: two of them must not write over each other here either.
    this.key = `draft:${this.url}#${crypto.getRandomValues(new Uint32Array(1))[0]}`;
    this.saved = this.textarea.value;
    this.savedLine = this.line;
    this.busy = Promise.resolve();
    this.recover();
  }

  get revision() {
    return this.form.elements.revision;
  }

  /** The line that a bug hunt suspects: it belongs to the text. */
  get line() {
    return this.form.elements.line?.value ?? "";
  }

  get dirty() {
    return this.textarea.value !== this.saved || this.line !== this.savedLine;
  }

  body(text, line) {
    const body = new URLSearchParams({ code: text, revision: this.revision.value });
    if (line) body.set("line", line);
    return body;
  }

  say(words, state) {
    const line = this.form.querySelector(".saved");
    if (!line) return;
    line.textContent = words;
    line.dataset.state = state;
  }

  typed() {
    this.at = Date.now();
    this.keep();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), PAUSE);
  }

  keep() {
    try {
      const copy = { text: this.textarea.value, line: this.line, revision: this.revision.value, sending: this.sending, at: this.at };
      localStorage.setItem(this.key, JSON.stringify(copy));
    } catch {
      // Storage may be full or forbidden: the server still gets every draft.
    }
  }

  forget(key = this.key) {
    try {
      localStorage.removeItem(key);
    } catch {
      // As above.
    }
  }

  /** What lies on this device of this box, by key, oldest first. */
  copies() {
    try {
      return Object.entries(localStorage)
        .filter(([key]) => key.split("#")[0] === `draft:${this.url}`)
        .map(([key, value]) => [key, parsed(value)])
        .sort(([, one], [, other]) => (one?.at ?? 0) - (other?.at ?? 0));
    } catch {
      return [];
    }
  }

  /** Copies that the server never got are newer than what it sent: the last goes back into the box, all into the history. */
  recover() {
    const left = this.copies().filter(([key, copy]) => {
      const same = !copy || (copy.text === this.saved && (copy.line ?? "") === this.savedLine);
      if (same) this.forget(key);
      return !same;
    });
    const [newest, copy] = left.pop() ?? [];
    for (const [key, older] of left) this.busy = this.busy.then(() => this.hand(key, older));
    if (!copy) return;
    this.at = copy.at;
    this.put(copy.text);
    if (copy.line && this.form.elements.line) this.form.elements.line.value = copy.line;
    // The revision it started from goes along: if another tab has saved since, the server keeps both texts.
    // A save that was on its way when the page closed is not another tab.
    if (copy.sending !== this.saved) this.revision.value = copy.revision;
    this.forget(newest);
    this.keep();
    this.save();
  }

  /** An older copy is handed to the server, which keeps it beside the one that stands in the box. */
  async hand(key, { text, line, revision }) {
    const body = this.body(text, line);
    body.set("revision", revision);
    const response = await fetch(this.url, { method: "POST", body, headers: { Accept: "application/json" } }).catch(() => null);
    if (response?.ok) this.forget(key);
  }

  put(text) {
    const box = this.textarea.closest("code-box");
    if (box && "value" in box) box.value = text;
    this.textarea.value = text;
  }

  /** What a box begins with that continues another, now that this one is right; what was written stays. */
  begin(text) {
    if (this.textarea.value !== this.textarea.defaultValue) return;
    this.textarea.defaultValue = text;
    this.put(text);
    this.saved = text;
  }

  save({ leaving = false } = {}) {
    clearTimeout(this.timer);
    if (!this.dirty && !this.unsure) return this.busy;
    this.busy = this.busy.then(() => this.send(leaving));
    return this.busy;
  }

  async send(leaving) {
    try {
      await this.settle(leaving);
      if (this.dirty) await this.post(this.textarea.value, this.line, leaving);
    } catch ({ answered }) {
      this.say(answered ? "Kept on this device: the server could not save it" : "Kept on this device", "kept");
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.save(), AGAIN);
    }
  }

  /** A request that was stopped, or lost, may have been saved: sent again, its text makes no new revision, and tells which one there is. */
  settle(leaving = false) {
    if (!this.settling && this.unsure) {
      const { text, line } = this.unsure;
      this.settling = this.post(text, line, leaving).finally(() => (this.settling = null));
    }
    return this.settling ?? Promise.resolve();
  }

  async post(text, line, keepalive) {
    this.sending = text;
    if (keepalive) this.keep();
    const body = this.body(text, line);
    const response = await fetch(this.url, { method: "POST", body, keepalive, headers: { Accept: "application/json" } });
    if (response.status === 409) return this.refuse((await response.json()).message);
    if (!response.ok) throw Object.assign(new Error(response.status), { answered: true });
    this.unsure = null;
    this.confirm(text, line, await response.json());
    document.dispatchEvent(new CustomEvent("draft:saved", { detail: response.headers }));
  }

  /** A check, a run or a hint takes the text along, after every save before it; those after it start from what it saved. */
  async through(url, request, text, line) {
    // Stopped while it waited, it never leaves: what is stored is as it was.
    request.signal.throwIfAborted();
    await Promise.race([this.settle().catch(() => {}), stopped(request.signal)]);
    request.signal.throwIfAborted();
    request.body.set("revision", this.revision.value);
    this.sending = text;
    try {
      const response = await fetch(url, request);
      // 429: too much was asked for just now, and the text is saved all the same, but where it says otherwise.
      const saved = response.ok || (response.status === 429 && !response.headers.has("Not-Saved"));
      if (saved) this.sent(text, line, response.headers.get("Revision"));
      else this.save();
      return response;
    } catch (error) {
      this.unsure = { text, line };
      this.save();
      throw error;
    }
  }

  confirm(text, line, { revision, saved, other, message }) {
    this.revision.value = revision;
    this.saved = text;
    this.savedLine = line;
    if (!this.dirty) this.forget();
    this.say(`Saved ${clock.format(new Date(saved))}`, "saved");
    if (other) this.ask(other, message);
  }

  /** Nothing is saved from here any more, as the server says; the text stays on the page. */
  refuse(message) {
    this.unsure = null;
    this.saved = this.textarea.value;
    this.savedLine = this.line;
    this.forget();
    this.say(message, "kept");
    say(this.form, message);
  }

  /** Which of two texts is wanted: the one in the box, or number *other* of the stored ones? */
  ask(other, message) {
    const both = this.form.querySelector(`#${CSS.escape(this.form.id.replace(/-form$/, "-both"))}`);
    both.querySelectorAll("button[name=at]").forEach((button) => (button.value = other));
    both.hidden = false;
    say(this.form, message);
  }

  /** The server has the text that went with a request, as this *revision*. */
  sent(text, line, revision) {
    if (revision) this.revision.value = revision;
    this.saved = text;
    this.savedLine = line;
    if (!this.dirty) this.forget();
  }

  /** The page is going: nothing can be waited for, so the text goes out at once. */
  leave() {
    if (!this.dirty) return;
    this.sending = this.textarea.value;
    this.keep();
    fetch(this.url, { method: "POST", body: this.body(this.sending, this.line), keepalive: true }).catch(() => {});
  }
}

/** Comes when a request is stopped. */
function stopped(signal) {
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** A broken copy is no copy. */
function parsed(value) {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

const drafts = new WeakMap();

function draftOf(form) {
  if (!form?.dataset?.draft) return null;
  let draft = drafts.get(form);
  if (!draft || draft.textarea !== form.querySelector("textarea[name=code]")) drafts.set(form, (draft = new Draft(form)));
  return draft;
}

function all() {
  return [...document.querySelectorAll("form[data-draft]")].map(draftOf).filter(Boolean);
}

document.addEventListener("input", (event) => draftOf(event.target.form)?.typed());
document.addEventListener("visibilitychange", () => document.hidden && all().forEach((draft) => draft.save({ leaving: true })));
addEventListener("pagehide", () => all().forEach((draft) => draft.leave()));
addEventListener("online", () => all().forEach((draft) => draft.save()));

document.addEventListener("click", (event) => {
  const keeps = event.target.closest("[data-keeps]");
  if (!keeps) return;
  event.preventDefault();
  const { form } = keeps.parentElement.querySelector("button");
  keeps.parentElement.hidden = true;
  form.querySelector("[data-action=check]").focus();
});

// One after another, whatever is pressed meanwhile: of two that overlapped, the later would seem to come from another tab.
document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
  const draft = draftOf(ctx.request.form);
  if (!draft) return;
  clearTimeout(draft.timer);
  const text = draft.textarea.value;
  const { line } = draft;
  ctx.fetch = (url, request) => {
    const before = Promise.race([draft.busy, stopped(request.signal)]);
    const answered = before.then(() => draft.through(url, request, text, line));
    draft.busy = Promise.all([draft.busy, answered.catch(() => {})]);
    return answered;
  };
});

/** Times come from the server in UTC and are shown in the reader's own. */
export function localise() {
  for (const time of document.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(time.dateTime);
    const today = at.toDateString() === new Date().toDateString();
    time.textContent = (today ? clock : day).format(at);
    time.dataset.local = "";
  }
}

// A text for another box is put into it, where the editor and its history are; the textarea itself stays.
document.addEventListener("htmx:before:swap", ({ detail: { tasks } }) => {
  for (const task of tasks.filter(({ target }) => target?.name === "code")) {
    tasks.splice(tasks.indexOf(task), 1);
    draftOf(task.target.form)?.begin(task.fragment.querySelector("textarea").value);
  }
});

document.addEventListener("htmx:after:swap", () => {
  all();
  localise();
});
all();
localise();
