// The editor is a third of what a lesson weighs: it is fetched once the page has been painted and nothing else is to be
// done, or at once when a box is touched; on the title page, only then. Until then the boxes are plain textareas, and
// typing may begin in them.
const editor = document.querySelector("meta[name=editor]");
const load = () => import(editor.content).catch(() => {}); // without it, boxes stay what they are

if (editor) {
  document.addEventListener("focusin", ({ target }) => target.closest?.("code-box") && load());
}

if (editor && !("touched" in editor.dataset)) {
  const idle = window.requestIdleCallback ?? ((act) => setTimeout(act, 200));
  const painted = new PerformanceObserver((seen) => {
    if (!seen.getEntriesByName("first-contentful-paint").length) return;
    painted.disconnect();
    idle(load, { timeout: 2000 });
  });
  painted.observe({ type: "paint", buffered: true });
}
