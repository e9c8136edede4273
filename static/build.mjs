// Bundles the css and js of this folder, with the fonts they use, into static/dist under names that carry a hash of the content.
// The server reads manifest.json: "app.css" -> "app-XXXXXXXX.css". A name with a hash may be cached for ever.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { build } from "esbuild";

const out = "static/dist";

// The signs that nearly every page needs; the others stay in a file that is asked for where one of them stands.
const CORE = [..." ·•›▸▾×–—‘’“”…−→←≤≥≈≠±√∂∑∏∈∞∇⊤⊙⋅⋯∘′∼⟹αβγδεϵλμσθπϕφηρτω"].map((sign) => sign.codePointAt(0));
CORE.push(0xa0, 0x2009, 0x200b, 0x202f, 0x2060); // spaces
for (let code = 0x20; code < 0x7f; code++) CORE.push(code);
CORE.sort((one, other) => one - other);
const CORE_FONTS = /latin-(400|600|wght)|KaTeX_(Main-Regular|Math-Italic)/;

const range = (from, to) => `U+${from.toString(16)}-${to.toString(16)}`;
const within = CORE.map((code) => range(code, code)).join();
const LAST = [["latin", 0x2215], ["KaTeX", 0x10ffff]]; // what a Latin face has not is not looked for in it
const beyond = (last) =>
  [0x1f, ...CORE].map((code, at) => [code + 1, Math.min(last, (CORE[at] ?? last + 1) - 1)]).filter(([from, to]) => from <= to);

/** *face*, cut into the signs of the core and all others. */
async function inTwo(face, path, subset) {
  const file = /url\(["']?([^"')]*\.woff2)/.exec(face)?.[1];
  if (!file || !CORE_FONTS.test(file)) return face;
  const whole = file.startsWith("@") ? resolve("node_modules", file) : resolve(dirname(path), file);
  const core = resolve("node_modules/.cache/backhand", `${basename(file, ".woff2")}-core.woff2`);
  await mkdir(dirname(core), { recursive: true });
  await writeFile(core, await subset(await readFile(whole), String.fromCodePoint(...CORE), { targetFormat: "woff2" }));
  const [, last] = LAST.find(([kind]) => file.includes(kind));
  const others = beyond(last).map(([from, to]) => range(from, to)).join();
  return [face.replace(file, core), face].map((one, at) => one.replace("}", `;unicode-range:${[within, others][at]}}`)).join("\n");
}

// Every browser that can run these pages reads woff2: KaTeX's woff and ttf copies are left out.
const smallFonts = {
  name: "small-fonts",
  setup(build) {
    build.onLoad({ filter: /(katex(\.min)?|fonts)\.css$/ }, async ({ path }) => {
      const { default: subset } = await import("subset-font");
      const css = (await readFile(path, "utf8")).replace(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\("[^"]*"\)/g, "");
      const parts = css.split(/(@font-face\s*{[^}]*})/);
      const contents = (await Promise.all(parts.map((part) => (part.startsWith("@font-face") ? inTwo(part, path, subset) : part)))).join("");
      return { contents, loader: "css" };
    });
  },
};

await rm(out, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ["static/css/app.css", "static/css/math.css", "static/css/preview.css", "static/js/preview.js", "static/js/app.js", "static/js/editor.js", "static/js/math.js", "static/icon.svg"],
  outdir: out,
  entryNames: "[name]-[hash]",
  assetNames: "fonts/[name]-[hash]",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome123", "firefox121", "safari17.5"], // the first with light-dark(), except Firefox 121 for :has()
  loader: { ".woff2": "file", ".svg": "copy" },
  legalComments: "linked",
  metafile: true,
  plugins: [smallFonts],
  logLevel: "warning",
});

// Compressed once, as small as can be, instead of at each request: a fifth less than what a server has time for.
const texts = Object.keys(metafile.outputs).filter((path) => /\.(js|css|svg)$/.test(path));
await Promise.all(texts.map(async (path) => writeFile(`${path}.br`, await promisify(brotliCompress)(await readFile(path)))));

const manifest = {};
for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint) manifest[basename(entryPoint)] = basename(path);
}
// The faces that the first lines of every page are set in: the page asks for them before it has read the style sheet.
manifest.fonts = Object.keys(metafile.outputs)
  .filter((path) => /(source-serif-4-latin-400-normal|source-sans-3-latin-wght-normal)-core-.*\.woff2$/.test(path))
  .map((path) => path.slice(out.length + 1));
await writeFile(`${out}/manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
