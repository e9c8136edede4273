// An author's preview: when the lesson is another one, the parts of its page that differ are changed in their place.
// What was typed and where the page stands stay; nothing else is touched. With scripts or without: it is done from outside.
const frame = document.querySelector("iframe");
const controls = document.querySelector(".preview-bar");
const ROOMS = "main, article, header, div, section"; // entered to find what differs; anything else is replaced whole
const keep = (one) => one.closest?.(".exercise");
let before = null; // the page as the server last sent it
let page = document.getElementById("told").dataset.page;

async function sent() {
  const answer = await fetch(frame.contentWindow.location.pathname);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Bring *shown* from what the server sent *before* to what it sends *now*. */
function patch(shown, before, now) {
  if (before.isEqualNode(now)) return;
  const [live, old, fresh] = [shown, before, now].map((one) => [...one.childNodes]);
  const alike = live.length === old.length && before.cloneNode(false).isEqualNode(now.cloneNode(false));
  if (!alike || keep(shown) || !shown.matches?.(ROOMS)) return replace(shown, now);
  let [head, tail] = [0, 0];
  const most = Math.min(old.length, fresh.length);
  while (head < most && old[head].isEqualNode(fresh[head])) head++;
  while (tail < most - head && old.at(-1 - tail).isEqualNode(fresh.at(-1 - tail))) tail++;
  const [gone, were, come] = [live, old, fresh].map((all) => all.slice(head, all.length - tail));
  if (gone.length === come.length) return gone.forEach((one, at) => patch(one, were[at], come[at]));
  const behind = live[live.length - tail] ?? null;
  come.forEach((one) => shown.insertBefore(shown.ownerDocument.importNode(one, true), behind));
  gone.forEach((one) => one.remove());
}

function replace(shown, now) {
  const fresh = shown.ownerDocument.importNode(now, true);
  if (fresh.querySelectorAll) carry(typed(shown), fresh);
  shown.replaceWith(fresh);
}

/** What an author typed or chose in *part*, by control. */
function typed(part) {
  return [...part.querySelectorAll("input:not([type=hidden]), textarea, select")]
    .filter((one) => (one.options ? [...one.options].some((option) => option.selected !== option.defaultSelected) : one.value !== one.defaultValue || one.checked !== one.defaultChecked))
    .map(({ id, name, type, value, checked }) => ({ id, name, type, value, checked }));
}

function carry(all, part) {
  for (const { id, name, type, value, checked } of all) {
    const chosen = ["radio", "checkbox"].includes(type);
    const same = [...part.querySelectorAll("input, textarea, select")];
    const one = same.find((other) => other.name === name && (id ? other.id === id : !chosen || other.value === value));
    if (one && chosen) one.checked = checked;
    else if (one) one.value = value;
  }
}

async function update() {
  const now = await sent();
  const [shown, was, is] = [frame.contentDocument, before, now].map((one) => one?.querySelector("#main"));
  before = now;
  if (![shown, was, is].every((one) => one?.querySelector("#lesson"))) return load();
  unmark();
  patch(shown, was, is);
  settle();
}

/** Let the page's own scripts see what came, and the answers be where they are wanted. */
async function settle() {
  const { contentDocument: shown, contentWindow: inside } = frame;
  shown.documentElement.dispatchEvent(new inside.Event("htmx:after:swap", { bubbles: true }));
  inside.htmx?.process(shown.body);
  mark();
  await answers();
}

/** Load the whole page again, at the same place and with the same answers. */
function load() {
  const { contentDocument: shown, contentWindow: inside } = frame;
  const [all, place] = [typed(shown.body), inside.scrollY];
  frame.addEventListener("load", () => (carry(all, frame.contentDocument.body), frame.contentWindow.scrollTo(0, place)), { once: true });
  inside.location.reload();
}

async function answers() {
  const wanted = () => controls.elements.key.checked;
  const found = document.createElement("template");
  if (wanted()) found.innerHTML = await (await fetch("/preview/key")).text();
  const shown = frame.contentDocument; // from here on nothing is waited for: who asked twice sees one
  shown.querySelectorAll(".answer-key").forEach((one) => one.remove());
  if (!wanted()) return;
  for (const one of found.content.querySelectorAll(".answer-key")) {
    shown.getElementById(one.dataset.of)?.append(shown.importNode(one, true));
  }
}

/** The finding that has the focus while all are drawn anew. */
let held = null;

function unmark() {
  const { activeElement } = frame.contentDocument;
  if (activeElement?.matches(".found")) held = activeElement.id;
  frame.contentDocument.querySelectorAll(".found").forEach((one) => one.remove());
}

/** Put every finding above what it is about; one that is about nothing here stands at the top. */
function mark() {
  const shown = frame.contentDocument;
  const top = shown?.querySelector("#main")?.firstElementChild;
  if (!top) return;
  unmark();
  for (const one of document.querySelectorAll("#told li")) {
    const note = shown.createElement("div");
    note.append(...one.cloneNode(true).childNodes);
    const link = note.querySelector("a");
    Object.assign(note, { className: "found", id: link.hash.slice(1), tabIndex: -1, role: "note" });
    note.dataset.level = one.dataset.level;
    link.replaceWith(...link.childNodes);
    ((one.dataset.at && shown.querySelector(one.dataset.at)) || top).before(note);
  }
  if (held) shown.getElementById(held)?.focus({ preventScroll: true });
  held = null;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("#told a");
  if (!link) return;
  event.preventDefault();
  const note = frame.contentDocument.querySelector(link.hash);
  note?.scrollIntoView({ block: "center" });
  note?.focus({ preventScroll: true });
});

async function arrived() {
  if (!frame.contentDocument?.querySelector("#main")) return;
  const style = document.querySelector("link[href*=preview]").cloneNode();
  frame.contentDocument.head.append(style);
  before = await sent();
  mark();
  await answers();
}

frame.addEventListener("load", arrived);
arrived(); // it may have been there first

controls.addEventListener("change", ({ target }) => {
  if (target.name === "key") return answers();
  if (target.name === "width") return frame.setAttribute("width", target.value);
  if (target.checked) frame.setAttribute("sandbox", "allow-same-origin allow-forms allow-popups allow-downloads");
  else frame.removeAttribute("sandbox");
  load();
});

document.addEventListener("htmx:after:swap", () => {
  const told = document.getElementById("told");
  if (told.dataset.page === page) return mark();
  page = told.dataset.page;
  update();
});
