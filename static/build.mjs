// Bundles the css and js of this folder, with the fonts they use, into static/dist under names that carry a hash of the content.
// The server reads manifest.json: "app.css" -> "app-XXXXXXXX.css". A name with a hash may be cached for ever.
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "esbuild";

const out = "static/dist";

// Every browser that can run these pages reads woff2: KaTeX's woff and ttf copies are left out.
const woff2Only = {
  name: "woff2-only",
  setup(build) {
    build.onLoad({ filter: /katex(\.min)?\.css$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\("[^"]*"\)/g, ""),
      loader: "css",
    }));
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
  plugins: [woff2Only],
  logLevel: "warning",
});

const manifest = {};
for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint) manifest[basename(entryPoint)] = basename(path);
}
// The faces that the first lines of every page are set in: the page asks for them before it has read the style sheet.
manifest.fonts = Object.keys(metafile.outputs)
  .filter((path) => /(source-serif-4-latin-400-normal|source-sans-3-latin-wght-normal)-.*\.woff2$/.test(path))
  .map((path) => path.slice(out.length + 1));
await writeFile(`${out}/manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
