// Focus stays where the learner is. When a swap takes away the control that was used, its successor gets the focus.
let used = null;

function signature(element) {
  const form = element.closest("form");
  return {
    id: element.id,
    exercise: element.closest("[id]:is(section, article, .exercise)")?.id,
    tag: element.localName,
    name: element.getAttribute("name"),
    value: element.getAttribute("value"),
    action: element.getAttribute("formaction") ?? element.getAttribute("hx-post") ?? form?.getAttribute("action"),
  };
}

function successor(old) {
  if (old.id && document.getElementById(old.id)) return document.getElementById(old.id);
  const owner = (old.exercise && document.getElementById(old.exercise)) || document;
  const like = [...owner.querySelectorAll(old.tag)].map((element) => [element, signature(element)]);
  const same = (key) => like.filter(([, now]) => now[key] && now[key] === old[key]);
  return (
    like.find(([, now]) => now.action === old.action && now.name === old.name && now.value === old.value)?.[0] ??
    same("action")[0]?.[0] ??
    owner.querySelector?.("h2, h3, [tabindex='-1'], legend")
  );
}

document.addEventListener("htmx:before:swap", () => {
  const active = document.activeElement;
  used = active && active !== document.body ? { element: active, ...signature(active) } : null;
});

document.addEventListener("htmx:after:swap", () => {
  if (!used || used.element.isConnected || document.activeElement !== document.body) return;
  const next = successor(used);
  if (next && next.tabIndex < 0 && !next.hasAttribute("tabindex")) next.tabIndex = -1;
  next?.focus({ preventScroll: true });
});
