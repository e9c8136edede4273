// What can be skipped is skipped by Esc: one element of a page at most says so, and it has to be in sight.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || event.repeat) return;
  if (document.querySelector("dialog[open]") || event.target.closest("code-box, input, select, textarea")) return;
  const skip = document.querySelector("[data-escape]");
  if (!skip) return;
  const { top, bottom } = skip.getBoundingClientRect();
  if (bottom > 0 && top < innerHeight) skip.click();
});
