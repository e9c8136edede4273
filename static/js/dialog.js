// A button with data-opens="name" opens the dialog of that name; without JavaScript such buttons stay hidden.
for (const button of document.querySelectorAll("[data-opens]")) {
  const dialog = document.getElementById(button.dataset.opens);
  if (!dialog) continue;
  button.hidden = false;
  button.addEventListener("click", () => dialog.showModal());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // the backdrop
}
