// Lines that are put in order.

/** Rows that are moved by buttons, or to the place that is written in front of them. */
function order(list) {
  const field = (row) => row.querySelector("[data-place]");
  const told = (text, status = text) => {
    list.closest("form").querySelector(".notice").textContent = text;
    list.closest(".exercise").querySelector("[role=status]").textContent = status;
  };
  const number = () => [...list.children].forEach((row, at) => (field(row).value = at + 1));
  const moved = (row) => {
    number();
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
  list.querySelectorAll(".moves").forEach((moves) => (moves.hidden = false));
  number();
}

document.querySelectorAll(".lines").forEach(order);
