// What can be skipped is skipped by Esc, if it is in sight; a question that is not kept goes away at once.
document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-removes]")?.dataset.removes;
  if (name) document.getElementById(name).remove();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || event.repeat) return;
  if (document.querySelector("dialog[open]") || event.target.closest("code-box, input, select, textarea")) return;
  const inSight = (skip) => {
    const { top, bottom } = skip.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  [...document.querySelectorAll("[data-escape]")].find(inSight)?.click();
});
