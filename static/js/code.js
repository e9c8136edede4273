// Around a code box: its keys, the wait for an answer with a Stop button, and short notices.
import htmx from "./htmx.js";

const SLOW = 150; // milliseconds after which waiting is shown

function buttonFor(form, action) {
  return form?.querySelector(`button[data-action="${action}"]`);
}

// The same keys in the editor (which sends code-box:press) and in a plain textarea.
document.addEventListener("code-box:press", (event) => buttonFor(event.target.closest("form"), event.detail)?.click());
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || event.target.localName !== "textarea") return;
  const action = event.ctrlKey || event.metaKey ? "check" : event.shiftKey ? "run" : null;
  const button = action && buttonFor(event.target.form, action);
  if (!button) return;
  event.preventDefault();
  button.click();
});

// Enter at the index of an entry means its own button, not the first one of the form.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches?.("input[data-nudges]")) return;
  event.preventDefault();
  event.target.parentElement.querySelector("button").click();
});

document.addEventListener("code-box:say", (event) => say(event.target, event.detail));
document.addEventListener("code-box:notice", (event) => {
  const form = event.target.closest("form");
  if (form) notify(form, event.detail);
});

/** What is shown while a check or a run is on its way: words, seconds and a way out. */
class Wait {
  constructor(source, form, button) {
    Object.assign(this, { source, form, button });
    this.place = form.querySelector(".wait");
    this.line = this.place.querySelector(".waiting");
    this.stop = buttonFor(form, "stop");
    this.began = performance.now();
    this.timer = setTimeout(() => this.show(), SLOW);
  }

  show() {
    this.place.hidden = false;
    this.stop.onclick = () => {
      this.stopped = true;
      htmx.trigger(this.source, "htmx:abort");
    };
    this.tick();
    this.clock = setInterval(() => this.tick(), 1000);
  }

  tick() {
    const seconds = Math.round((performance.now() - this.began) / 1000);
    const verb = this.button.dataset.action === "run" ? "Running" : "Checking";
    const limit = Number(this.form.dataset.seconds);
    const late = limit && seconds > 2 * limit + 1;
    this.line.textContent = `${late ? "Waiting for a free place" : verb}${seconds ? `, ${seconds} s` : " …"}`;
  }

  end() {
    clearTimeout(this.timer);
    clearInterval(this.clock);
    if (document.activeElement === this.stop) this.button.focus();
    this.place.hidden = true;
    if (this.stopped) notify(this.form, "Stopped. Your text is saved.");
  }
}

/** Puts one sentence into the status line of the exercise that *element* belongs to. */
export function say(element, sentence) {
  const status = element.closest(".exercise")?.querySelector('[role="status"]');
  if (status) status.textContent = sentence;
}

/** The same sentence for everybody: seen under the box, and said. The next answer takes it away. */
function notify(form, sentence) {
  const notice = form.querySelector(".notice");
  if (notice) notice.textContent = sentence;
  say(form, sentence);
}

/** What no check would take is told while it is typed, and taken back when it fits again. */
document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (event.target.name !== "code" || !form?.dataset.longest) return;
  const { length } = event.target.value;
  const longest = Number(form.dataset.longest);
  const told = "long" in form.dataset;
  if (length > longest && !told) {
    form.dataset.long = "";
    const [now, most] = [length, longest].map((one) => one.toLocaleString("en"));
    notify(form, `The text has ${now} characters; a box takes ${most}. Shorten it before you check.`);
  } else if (length <= longest && told) {
    delete form.dataset.long;
    notify(form, "");
  }
});

const waits = new Map();

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const { form, submitter } = ctx.request;
  if (!form?.querySelector("code-box")) return;
  const button = submitter ?? (ctx.sourceElement === form ? buttonFor(form, "check") : ctx.sourceElement);
  if (["check", "run"].includes(button.dataset.action)) waits.set(ctx, new Wait(ctx.sourceElement, form, button));
});

document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  waits.get(ctx)?.end();
  waits.delete(ctx);
});

// No answer at all: the server is away or the network is. Whoever asks again is not told of the last time.
document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  const form = formOf(ctx);
  if (form) notify(form, `${navigator.onLine ? "The server did not answer." : "There is no network here."} What you wrote stays; try again in a moment.`);
});
document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => formOf(ctx)?.querySelector(".notice")?.replaceChildren());

function formOf(ctx) {
  return ctx?.request?.form ?? ctx?.sourceElement?.closest("form");
}
