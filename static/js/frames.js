// A picture that is stepped through: its links are places of the page; here they move the steps and not the page.
// Only the step in view takes part: Tab goes through its links and on, not through those of all others.
function slider(list) {
  const frames = [...list.children];
  const range = Object.assign(document.createElement("input"), { type: "range", className: "slides", min: 0, max: frames.length - 1, value: 0 });
  range.setAttribute("aria-label", `Turn ${list.dataset.slides}`);
  const tell = (at) => range.setAttribute("aria-valuetext", frames[at].querySelector(".place").textContent.split(" · ")[0]);
  range.addEventListener("input", () => {
    const frame = frames[range.value];
    tell(range.value);
    list.scrollTo({ left: frame.offsetLeft - list.offsetLeft, behavior: "instant" });
  });
  tell(0);
  list.before(range);
  return (frame) => {
    if (document.activeElement === range) return;
    range.value = frames.indexOf(frame);
    tell(range.value);
  };
}

const prepared = new WeakSet();

function prepare(list) {
  if (prepared.has(list)) return;
  prepared.add(list);
  const follow = list.dataset.slides ? slider(list) : () => {};
  const seen = new IntersectionObserver(
    (changes) =>
      changes.forEach(({ target, intersectionRatio }) => {
        target.inert = intersectionRatio < 0.5;
        if (!target.inert) follow(target);
      }),
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

// A picture may come after the page, with what an answer opens.
const prepareAll = () => document.querySelectorAll(".frames").forEach(prepare);
prepareAll();
document.addEventListener("htmx:after:swap", prepareAll);
