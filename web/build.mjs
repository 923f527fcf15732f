// node build.mjs FILE: bundles src/ and writes one HTML file with everything inside.
import * as esbuild from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "page.html");

const bundle = await esbuild.build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2021",
  charset: "utf8",
  legalComments: "none",
});
const text = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending)).text;
// A function as replacement: '$' in the code means nothing.
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const page = readFileSync(join(here, "src/page.html"), "utf8")
  .replace("@STYLE@", () => text(".css"))
  .replace("@SCRIPT@", () => script);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
