// A button with data-opens="name" opens the dialog of that name; without JavaScript such buttons stay hidden.
function show() {
  for (const button of document.querySelectorAll("[data-opens][hidden]")) {
    button.hidden = !document.getElementById(button.dataset.opens);
  }
}

document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-opens]")?.dataset.opens;
  if (name) document.getElementById(name).showModal();
  if (event.target.localName === "dialog") event.target.close(); // the backdrop
});
document.addEventListener("htmx:after:swap", show);
show();

// What was opened into the page by a button can be put away again; the focus goes back to that button.
document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-closes]")?.dataset.closes;
  if (!name) return;
  const opened = document.getElementById(name);
  const opener = opened.closest(".exercise")?.querySelector('[data-action="history"]');
  opened.remove();
  opener?.focus();
});

// Printing is a dialog of the browser's own.
for (const button of document.querySelectorAll("[data-prints]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
