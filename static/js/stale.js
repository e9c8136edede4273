// A verdict is about the text that was checked; it says so as soon as another one stands in the box.
const judged = new Map(); // by the id of its form: the text that the verdict in sight is about
const asked = new Map(); // by request: the text that went with it

const forms = () => [...document.querySelectorAll("form:has(code-box)")];
const markOf = (form) => form.closest(".exercise")?.querySelector(".stale");

function show(form) {
  const mark = markOf(form);
  if (mark && judged.has(form.id)) mark.hidden = judged.get(form.id) === form.elements.code.value;
}

for (const form of forms()) {
  // The text as it came with the verdict: another one may have been found on this device since.
  if (markOf(form)?.hidden) judged.set(form.id, form.elements.code.defaultValue);
  show(form);
}

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form?.querySelector("code-box")) show(form);
});

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const { form, submitter } = ctx.request;
  if (!form?.querySelector("code-box")) return;
  const { action = "check" } = (submitter ?? ctx.sourceElement).dataset; // the form itself: its first button
  if (["check", "run"].includes(action)) asked.set(ctx, [form.id, form.elements.code.value]);
});

document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  const found = asked.get(ctx);
  asked.delete(ctx);
  if (found && ctx.response) judged.set(...found);
  forms().forEach(show);
});
