// After a right answer the key that checked goes on, as long as the answer stands there unchanged.
const SAID = ".feedback[data-correct='true'], .verdict[data-passed='true']";
const FIELDS = "code-box, .tile, input:not([type=hidden]), select, button";

/** The link onward of the exercise around *element*, if what stands there is right. */
function onward(element) {
  const said = element.closest(".exercise")?.querySelector(SAID);
  return said && !("edited" in said.dataset) ? said.querySelector("[data-next]") : null;
}

// What was said is about another answer now; the next one replaces it, and this mark with it. What is asked within it, of
// the answer that is right, changes nothing.
function edited({ target }) {
  const said = target.closest(".exercise")?.querySelector(SAID);
  if (said && target.closest("form") && !said.contains(target)) said.dataset.edited = "";
}
document.addEventListener("input", edited);
document.addEventListener("change", edited);

/** To what stands below: into the field of an exercise, or to where one reads on. */
function goOn(link) {
  const exercise = link.closest(".exercise");
  // In practice nothing stands below but the way to the next one.
  const on = document.querySelector("[data-goes-on]");
  if (on) return on.requestSubmit();
  const place = exercise.querySelector(".onward");
  const below = exercise.nextElementSibling;
  place.tabIndex = -1;
  place.scrollIntoView();
  const field = below?.matches(".exercise, .sheet") ? below.querySelector(FIELDS) : below?.querySelector(":scope.begins > a");
  (field ?? place).focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-next]");
  if (!link) return;
  event.preventDefault();
  goOn(link);
});

function checks({ target, ctrlKey, metaKey }) {
  if (target.closest("code-box")) return ctrlKey || metaKey;
  return target.matches(".quiz input, [data-action=answer], [data-action=check]");
}

document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Enter" || event.isComposing || event.repeat || !checks(event)) return;
    const link = onward(event.target);
    if (!link) return;
    event.preventDefault();
    event.stopPropagation();
    goOn(link);
  },
  true,
);
