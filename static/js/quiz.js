// What all questions have in common.

// The feedback of a quiz is swapped, its field is not: the field is told what the feedback says.
document.addEventListener("htmx:after:swap", () => {
  for (const exercise of document.querySelectorAll(".quiz-sheet")) {
    const wrong = exercise.querySelector(".feedback")?.dataset.correct === "false";
    for (const input of exercise.querySelectorAll("input[type=text]:not([data-place])")) {
      if (wrong) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }
});
document.addEventListener("input", (event) => {
  if (event.target.matches(".quiz input[type=text]")) event.target.removeAttribute("aria-invalid");
});

// In a sheet, Enter goes down to the next row; the row that is left is sent, as by any other way of leaving it.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches(".rows input[type=text]")) return;
  event.preventDefault();
  const stops = [...event.target.form.querySelectorAll("input[type=text], button[data-action=answer]")];
  stops[stops.indexOf(event.target) + 1]?.focus();
});
