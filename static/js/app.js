// What every page loads. Each part finds its own elements and does nothing where there are none;
// without this script everything below is a plain form.
import "./htmx.js";
import "./theme.js";
import "./later.js";
import "./code.js";
import "./lab.js";
import "./drafts.js";
import "./stale.js";
import "./focus.js";
import "./formulas.js";
import "./frames.js";
import "kinds"; // the scripts in the folders of app/kinds, where a page has such a question: build.mjs finds them
import "./quiz.js";
import "./next.js";
import "./escape.js";
import "./rail.js";
import "./paths.js";
import "./dialog.js";
import "./train.js";
import "./board.js";
import "./passkeys.js";
import "./zones.js";
import "./lti.js";
import "./sitting.js";
