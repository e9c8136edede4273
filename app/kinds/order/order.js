// Lines that are put in order.

/** What this tab holds for *key*; empty where a browser keeps nothing. */
function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

function store(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // It lasts as long as the page.
  }
}

/** Rows that are moved by buttons, or to the place that is written in front of them. */
function order(list) {
  const field = (row) => row.querySelector("[data-place]");
  const told = (text, status = text) => {
    list.closest("form").querySelector(".notice").textContent = text;
    list.closest(".exercise").querySelector("[role=status]").textContent = status;
  };
  const places = () => [...list.querySelectorAll("[type=hidden]")].map((one) => one.value).join(" ");
  const shown = places();
  const key = `order ${list.closest("form").action}`;
  const number = () => [...list.children].forEach((row, at) => (field(row).value = at + 1));
  const moved = (row) => {
    number();
    store(key, [shown, places()]);
    for (const one of list.children) one.toggleAttribute("data-moved", one === row);
    const said = row.querySelector(":scope > code, .step");
    const thing = said.matches(".step") ? "step" : "line";
    told("", `${said.textContent.trim()} is now ${thing} ${field(row).value}.`);
  };
  list.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-move]");
    if (!button) return;
    const row = button.closest("li");
    if (button.dataset.move === "up") row.previousElementSibling?.before(row);
    else row.nextElementSibling?.after(row);
    button.focus();
    moved(row);
  });
  list.addEventListener("change", ({ target }) => {
    const row = target.closest("li");
    const others = [...list.children].filter((one) => one !== row);
    const at = Number(target.value) - 1;
    if (!(Number.isInteger(at) && at in list.children)) {
      number();
      return told(`There is no such place: write a number from 1 to ${list.children.length}.`);
    }
    if (at < others.length) others[at].before(row);
    else others.at(-1)?.after(row);
    target.focus();
    moved(row);
  });
  // The end of a number, on a keypad too: the line moves, and the rest is not handed in for that.
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("[data-place]")) return;
    event.preventDefault();
    event.target.blur();
    event.target.focus();
  });
  list.querySelectorAll(".moves").forEach((moves) => (moves.hidden = false));
  // Moves that were not checked stay through a pause, as a text does; after a check the page shows what was checked.
  const [before, after] = stored(key);
  if (before === shown) for (const place of after.split(" ")) list.append(list.querySelector(`[type=hidden][value="${place}"]`).closest("li"));
  number();
}

/** Once right and out of sight it folds, as when the page is opened anew: what comes next may be from memory. */
function folds(list) {
  const leaving = new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
    const right = list.closest(".exercise").querySelector(".feedback").dataset.correct === "true";
    if (isIntersecting || boundingClientRect.bottom > 0 || !right || list.contains(document.activeElement)) return;
    leaving.disconnect();
    const folded = document.createElement("details");
    list.before(folded);
    folded.innerHTML = "<summary>Your order</summary>";
    folded.append(list);
  });
  leaving.observe(list);
}

const lists = document.querySelectorAll(".lines");
lists.forEach(order);
// Where the browser does not hold what is read in its place, nothing above it may become shorter.
if (CSS.supports("overflow-anchor", "auto")) lists.forEach((list) => list.closest("details") ?? folds(list));
