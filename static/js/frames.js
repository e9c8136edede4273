// A picture that is stepped through: its links are places of the page; here they move the steps and not the page.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".steps > a[data-step]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const frame = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!frame) return;
  event.preventDefault();
  const list = frame.parentElement;
  list.scrollTo({ left: frame.offsetLeft - list.offsetLeft });
  const same = frame.querySelector(`a[data-step="${link.dataset.step}"]`) ?? frame.querySelector("a[data-step]");
  same.focus({ preventScroll: true });
});
