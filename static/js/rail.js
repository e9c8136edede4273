// The contents beside the text: where one is, what is done, and the shapes of the program that is spoken of.
const rail = document.querySelector(".rail");
const WIDE = matchMedia("(min-width: 75rem)");
const LINE = 0.4; // what stands above this part of the window is what one has come to

/** The last of *elements*, in the order of the page, that begins above the line. */
function reached(elements) {
  return elements.findLast((one) => one.getBoundingClientRect().top < innerHeight * LINE);
}

function follow() {
  const details = rail.querySelector("details");
  const links = [...rail.querySelectorAll("ol > li > a")];
  const places = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const programs = [...document.querySelectorAll(".lesson [data-program]")];
  const shapes = [...rail.querySelectorAll("[data-shapes-of]")];
  const place = () => (details.open = WIDE.matches);
  WIDE.addEventListener("change", place);
  place();

  let waiting = false;
  const look = () => {
    waiting = false;
    const at = places.indexOf(reached(places.filter(Boolean)));
    links.forEach((link, index) => {
      if (index === Math.max(at, 0)) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
    const program = reached(programs)?.dataset.program;
    for (const one of shapes) one.hidden = one.dataset.shapesOf !== program;
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  }, { passive: true });
  look();
}

/** Whether every exercise of a dot says that it is solved. */
function light() {
  for (const stop of rail.querySelectorAll(".stop")) {
    const done = stop.dataset.names.split(" ").every((name) => document.getElementById(`${name}-solved`)?.textContent);
    stop.dataset.done = done;
    stop.querySelector("[data-said]").textContent = done ? ", done" : "";
  }
}

if (rail) {
  follow();
  document.addEventListener("htmx:after:swap", light);
}
