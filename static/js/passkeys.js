// Passkeys: the one way to sign in that needs a script. In a browser that cannot, its part of the page is hidden.
const can = Boolean(window.PublicKeyCredential?.parseCreationOptionsFromJSON && window.PublicKeyCredential?.parseRequestOptionsFromJSON);
const FAILED = "Your device has made or shown no passkey. Nothing was changed.";

async function post(address, value) {
  const response = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
  const kind = response.headers.get("Content-Type") ?? "";
  const answer = kind.startsWith("application/json") ? await response.json() : {};
  if (response.ok) return answer;
  throw new Error(answer.said ?? (response.status === 429 ? "Too many tries. Wait a minute." : "The server did not answer. Try again."));
}

async function go(url, { passkey: kind, back, add = "" }) {
  const options = await post(`${url}/ask`, { make: kind === "make", back, add: add === "yes" });
  const shown =
    kind === "make"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  const { to } = await post(`${url}/enter`, shown.toJSON());
  location.assign(to);
}

for (const part of document.querySelectorAll("#passkey")) part.hidden = !can;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-passkey]");
  if (!button) return;
  const way = button.closest(".way");
  const said = way.querySelector("[role=alert]");
  said.hidden = true;
  button.disabled = true;
  try {
    await go(way.dataset.url, button.dataset);
  } catch (error) {
    // What a device says is for programmers; what the server says is for people.
    said.textContent = error instanceof DOMException ? FAILED : error.message;
    said.hidden = false;
  } finally {
    button.disabled = false;
  }
});
