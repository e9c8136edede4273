// htmx swaps fragments; history and its own indicator styles stay the browser's and ours.
import htmx from "htmx.org";

htmx.config.history = false;

export default htmx;
