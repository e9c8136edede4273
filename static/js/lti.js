// In the frame of a learning platform: what its page keeps for us, and how tall we are.
// https://www.imsglobal.org/spec/lti-cs-pm/v0p1
const ANSWER_MS = 3000;

/** The frame of the platform that keeps things: the page around us, or a frame beside us that it names. */
function keeper(name) {
  const around = window.parent === window ? window.opener : window.parent;
  if (!around || name === "_parent") return around;
  try {
    return around.frames[name] ?? around;
  } catch {
    return around;
  }
}

/** Send *message* to the platform at *origin*; what it answers with, or nothing. */
function ask(target, origin, message) {
  const id = crypto.randomUUID();
  return new Promise((resolve) => {
    const hear = ({ data, origin: from }) => {
      if (from !== origin || data?.message_id !== id || data.subject !== `${message.subject}.response`) return;
      done(data.error ? undefined : data.value);
    };
    const done = (value) => {
      removeEventListener("message", hear);
      clearTimeout(late);
      resolve(value);
    };
    const late = setTimeout(done, ANSWER_MS);
    addEventListener("message", hear);
    target?.postMessage({ ...message, message_id: id }, origin);
    if (!target) done();
  });
}

const store = document.querySelector("[data-lti-store]");
if (store) {
  const { ltiStore: name, key, value, origin } = store.dataset;
  await ask(keeper(name), origin, { subject: "lti.put_data", key, value });
  location.replace(store.href);
}

const stored = document.querySelector("[data-lti-stored]");
if (stored) {
  const { ltiStored: name, key, origin } = stored.dataset;
  stored.elements.stored.value = (await ask(keeper(name), origin, { subject: "lti.get_data", key })) ?? "none";
  stored.submit();
}

// Where a frame keeps no cookies the browser is asked to let it, by a press; where it was before, at once. Only a page
// that we go to by ourselves keeps what was granted: so a login begins again, and what the platform answers is sent anew.
const access = document.querySelector("[data-lti-access]");
if (access && document.requestStorageAccess && window.parent !== window) {
  const asked = access.querySelector("[data-ask]");
  const goOn = () => (access.matches("form") ? access.submit() : location.replace(asked.href));
  const refused = () => {
    asked.hidden = true;
    access.querySelector("[role=status]").textContent = "Your browser did not allow it. Open it in a new tab.";
  };
  access.hidden = false;
  asked.addEventListener("click", (event) => {
    event.preventDefault();
    document.requestStorageAccess().then(goOn, refused);
  });
  const permission = await navigator.permissions.query({ name: "storage-access" }).catch(() => undefined);
  if (permission?.state === "granted") document.requestStorageAccess().then(goOn, () => undefined);
}

// What was chosen goes to the platform by itself; without this script by a press.
document.querySelector("[data-lti-send]")?.submit();

// The platform closes the frame in which this tool was registered.
document.querySelector("[data-lti-close]")?.addEventListener("click", () => {
  (window.opener ?? window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
});

const chooser = document.querySelector("[data-chooser]");
if (chooser) {
  const field = chooser.querySelector(".chooser-search");
  field.hidden = false;
  field.addEventListener("input", ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (element) => words.every((word) => element.textContent.toLowerCase().includes(word));
    for (const group of chooser.querySelectorAll("fieldset")) {
      const all = fits(group.querySelector("legend"));
      for (const row of group.querySelectorAll(".chooser-list > li")) row.hidden = !all && !fits(row);
      group.hidden = !group.querySelector(".chooser-list > li:not([hidden])");
    }
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // nothing is chosen by searching
  });
}

// Where we are framed, the frame grows with what is in it. The height tells nobody anything that the page does not.
if (document.body.dataset.framed !== undefined && window.parent !== window) {
  let told = 0;
  const tell = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    window.parent.postMessage({ subject: "lti.frameResize", height }, "*");
  };
  new ResizeObserver(tell).observe(document.documentElement);
  tell();
}
