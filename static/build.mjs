// Bundles the css and js of this folder, with the fonts they use, into static/dist under names that carry a hash of the content.
// The server reads manifest.json: "app.css" -> "app-XXXXXXXX.css". A name with a hash may be cached for ever.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { build } from "esbuild";

const out = "static/dist";

// A font comes in parts, and a browser asks for those in which a sign of the page stands. Nearly every page needs the core.
const between = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const signs = (text) => [...text].map((sign) => sign.codePointAt(0));
const TEXT = [
  ...signs("•›▸▾×–—‘’“”…−→←≤≥≈≠±√∂∑∏∈∞∇⊤⊙⋅⋯∘′∼⟹αβγδεϵλμσθπϕφηρτω·"),
  ...between(0x20, 0x7e),
  ...[0xa0, 0x2009, 0x200b, 0x202f, 0x2060], // spaces
];
// Upright letters of formulas are those of the text around them; italic ones have places of their own.
const MATH = [
  ...signs(" 0123456789()+,./=<>[]|{}!:;'-*×·⋅⋯…−±∂∇∑∏√∞≈≠≤≥≡∼∝∈→←⇒⟹⊙⊗∘′″⊤⏟⏞^~¯ˆ˜˙‖⟨⟩𝖳ℎℝℒ𝔼ΓΔΘΛΣΦΨΩ𝜕𝜖𝜙"),
  ...[0x302, 0x303, 0x304, 0x305, 0x307, 0x332, 0x20d7, 0x2061, 0x2062, 0x2063], // accents, and what is not seen
  ...between(0x1d434, 0x1d467), // A to z
  ...between(0x1d6fc, 0x1d714), // α to ω
];
const SOUGHT = between(0x3b1, 0x3c9); // α to ω in the text: browsers look for these before they turn them italic
// What a Latin face has not is not looked for in it.
const latin = (more) => ({ core: [...TEXT, ...signs(more)], others: between(0x20, 0x2215) });
const LETTERS = ["calt", "ccmp", "kern", "liga", "lnum", "locl", "mark", "tnum"];
const FONTS = [
  [/stix-two-math/, { core: [...MATH, ...SOUGHT], signs: [...between(0x370, 0x3ff), ...between(0x2000, 0x22ff), ...between(0x27c0, 0x27ff)], letters: between(0x1d400, 0x1d7ff) }, ["ccmp"], SOUGHT],
  // A sign of the title page, and those of buttons: for one of them a whole part would come.
  [/serif-4-latin-400-normal/, latin("²"), LETTERS],
  [/sans-3-latin-wght/, latin("²↑↓↺"), LETTERS],
  [/latin-(400|600|wght)/, latin(""), LETTERS],
];

/** What CSS calls a range: `U+20-7e,U+a0`, of code points in their order. */
function unicodeRange(codes) {
  const first = codes.filter((code, at) => codes[at - 1] !== code - 1);
  const last = codes.filter((code, at) => codes[at + 1] !== code + 1);
  return first.map((from, at) => `U+${from.toString(16)}${last[at] > from ? `-${last[at].toString(16)}` : ""}`).join();
}

/** *face* in its parts, without the hints to screens that no browser of today needs. */
async function inParts(face, path, subset) {
  const file = /url\(["']?([^"')]*\.woff2)/.exec(face)?.[1];
  const [, parts, keepFeatures, sought = []] = FONTS.find(([pattern]) => pattern.test(file));
  const whole = await readFile(file.startsWith("@") ? resolve("node_modules", file) : resolve(dirname(path), file));
  const faces = Object.entries(parts).map(async ([name, wanted], at, all) => {
    const before = new Set(all.slice(0, at).flatMap(([, codes]) => codes));
    const codes = [...new Set(wanted)].filter((code) => !before.has(code)).sort((one, other) => one - other);
    const part = resolve("node_modules/.cache/backhand", `${basename(file, ".woff2")}-${name}.woff2`);
    await mkdir(dirname(part), { recursive: true });
    const text = String.fromCodePoint(...codes.filter((code) => !sought.includes(code)));
    await writeFile(part, await subset(whole, text, { targetFormat: "woff2", noHinting: true, keepFeatures }));
    return face.replace(file, part).replace("}", `;unicode-range:${unicodeRange(codes)}}`);
  });
  return (await Promise.all(faces)).join("\n");
}

const smallFonts = {
  name: "small-fonts",
  setup(build) {
    build.onLoad({ filter: /fonts\.css$/ }, async ({ path }) => {
      const { default: subset } = await import("subset-font");
      const parts = (await readFile(path, "utf8")).split(/(@font-face\s*{[^}]*url[^}]*})/);
      const contents = (await Promise.all(parts.map((part) => (part.includes("url(") ? inParts(part, path, subset) : part)))).join("");
      return { contents, loader: "css" };
    });
  },
};

/** `import "kinds"`: every script in the folder of a kind, fetched by pages that have such a question. A kind that is added is found. */
const kindScripts = {
  name: "kinds",
  setup(build) {
    build.onResolve({ filter: /^kinds$/ }, () => ({ path: "kinds", namespace: "kinds" }));
    build.onLoad({ filter: /.*/, namespace: "kinds" }, async () => {
      const names = (await readdir("app/kinds", { recursive: true })).filter((file) => file.endsWith(".js")).map((file) => basename(file, ".js")).sort();
      const contents = names.map((name) => `if (document.querySelector('[data-kind="${name}"]')) import("./${name}/${name}.js");`);
      return { contents: contents.join("\n"), resolveDir: resolve("app/kinds") };
    });
  },
};

await rm(out, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ["static/css/app.css", "static/css/preview.css", "static/css/teaching.css", "static/js/preview.js", "static/js/app.js", "static/js/editor.js", "static/icon.svg"],
  outdir: out,
  entryNames: "[name]-[hash]",
  assetNames: "fonts/[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  charset: "utf8", // as files are served: a table of the editor is shorter so
  format: "esm",
  target: ["chrome123", "firefox121", "safari17.5"], // the first with light-dark(), except Firefox 121 for :has()
  loader: { ".woff2": "file", ".svg": "copy" },
  legalComments: "linked",
  metafile: true,
  plugins: [smallFonts, kindScripts],
  logLevel: "warning",
});

// Compressed once, as small as can be, instead of at each request: a fifth less than what a server has time for.
const texts = Object.keys(metafile.outputs).filter((path) => /\.(js|css|svg)$/.test(path));
await Promise.all(texts.map(async (path) => writeFile(`${path}.br`, await promisify(brotliCompress)(await readFile(path)))));

const manifest = {};
for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint) manifest[basename(entryPoint)] = basename(path);
}
// The faces of the first lines of every page, of what is bold, of formulas: pages ask for them before they have read the style sheet.
const faces = (names) => Object.keys(metafile.outputs).filter((path) => names.test(path)).map((path) => path.slice(out.length + 1));
manifest.fonts = faces(/(source-serif-4-latin-400-(normal|italic)|source-sans-3-latin-wght-normal)-core-.*\.woff2$/);
manifest.bold = faces(/source-serif-4-latin-600-normal-core-.*\.woff2$/);
manifest.formulas = faces(/stix-two-math-.*-core-.*\.woff2$/);
await writeFile(`${out}/manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
