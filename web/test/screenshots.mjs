// The pictures of the README: node web/test/screenshots.mjs [PROGRAM] [FOLDER]      (build/mdpcosim, docs/figures)
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, run } from "./browser.mjs";

const [program = "build/mdpcosim", folder = "docs/figures"] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "mdpcosim-screenshots-"));
const browser = await launch();
mkdirSync(folder, { recursive: true });
try {
  run(program, "run", "examples/motor-control/scenario.yaml", "--out", join(work, "motor-control"), "--report", "--quiet");
  const summary = await open(browser, join(work, "motor-control", "report.html"), { viewport: { width: 1180, height: 1010 } });
  await summary.screenshot({ path: join(folder, "report-summary.png") });
  run(program, "run", "examples/two-mass/scenario.yaml", "--out", join(work, "two-mass"), "--quiet");
  run(program, "run", "examples/two-mass/scenario.yaml", "--out", join(work, "reference"), "--monolithic", "--quiet");
  run(program, "report", join(work, "two-mass"), "--with", join(work, "reference"));
  const series = await open(browser, join(work, "two-mass", "report.html"), { viewport: { width: 1000, height: 830 } });
  await series.locator("#animation input[type=range]").fill("64");
  const top = await series.locator("#animation").boundingBox();
  await series.evaluate((y) => {
    document.documentElement.style.scrollBehavior = "auto";
    document.activeElement.blur();
    scrollTo(0, y - 60);
  }, top.y);
  await series.screenshot({ path: join(folder, "report-series.png") });
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
