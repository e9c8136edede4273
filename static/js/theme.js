// The theme changes at once; the server remembers it in a cookie and writes it into the next page itself.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form.theme");
  if (!form) return;
  event.preventDefault();
  const data = new FormData(form, event.submitter);
  const theme = data.get("theme");
  document.documentElement.dataset.theme = theme;
  for (const button of form.querySelectorAll("button[value]")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
  fetch(form.action, { method: "POST", body: new URLSearchParams(data), headers: { "HX-Request": "true" } });
});
