// A picture that is stepped through: its links are places of the page; here they move the steps and not the page.
// Only the step in view takes part: Tab goes through its links and on, not through those of all others.
for (const list of document.querySelectorAll(".frames")) {
  const seen = new IntersectionObserver(
    (changes) => changes.forEach(({ target, intersectionRatio }) => (target.inert = intersectionRatio < 0.5)),
    { root: list, threshold: 0.5 },
  );
  for (const frame of list.children) seen.observe(frame);
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-step]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const frame = document.getElementById(link.hash.slice(1));
    event.preventDefault();
    frame.inert = false;
    list.scrollTo({ left: frame.offsetLeft - list.offsetLeft });
    const same = frame.querySelector(`a[data-step="${link.dataset.step}"]`) ?? frame.querySelector("a[data-step]");
    same.focus({ preventScroll: true });
  });
}
