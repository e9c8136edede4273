// The quiet clock of a sitting: minutes in words, told to screen readers at ten and at one. The server keeps the time and hands in.
import { localise } from "./drafts.js";

const bar = document.querySelector(".sitting-bar");
const TOLD = [10, 1];

if (bar) {
  const left = bar.querySelector(".sitting-left");
  const said = document.getElementById("sitting-said");
  // From the seconds that the server told: the clock of this machine may be wrong.
  let end = endIn(bar.dataset.seconds);
  let told = minutes();

  function endIn(seconds) {
    return performance.now() + 1000 * Number(seconds);
  }

  function minutes() {
    return Math.ceil((end - performance.now()) / 60_000);
  }

  function tick() {
    const now = minutes();
    left.textContent = now > 1 ? `${now} minutes left` : "less than a minute left";
    if (now < told && TOLD.includes(now)) said.textContent = now > 1 ? `${now} minutes are left.` : "One minute is left.";
    told = now;
    if (performance.now() < end) return;
    clearInterval(clock);
    // Leaving the page saves what is not saved yet; the server waits for it.
    location.replace(location.pathname);
  }

  const clock = setInterval(tick, 1000);
  // Every save tells the time anew: more may have been given.
  document.addEventListener("draft:saved", ({ detail: headers }) => {
    const seconds = headers.get("Seconds-Left");
    if (seconds === null) return;
    end = endIn(seconds);
    const until = bar.querySelector("time");
    until.dateTime = headers.get("Ends-At");
    delete until.dataset.local;
    localise();
    tick();
  });
}
