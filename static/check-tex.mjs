// Reads a JSON list of [tex, display] from standard input; writes a JSON list of messages, null where KaTeX is content.
import katex from "katex";

let text = "";
for await (const part of process.stdin) text += part;
const messages = JSON.parse(text).map(([tex, display]) => {
  try {
    katex.renderToString(tex, { displayMode: display, throwOnError: true, strict: "error" });
    return null;
  } catch (error) {
    return error.message;
  }
});
process.stdout.write(JSON.stringify(messages));
