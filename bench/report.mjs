// What a report of a million recorded values costs.
//   node bench/report.mjs [PROGRAM]      (default: build/mdpcosim; needs Chromium: tools/setup browser)
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, run } from "../web/test/browser.mjs";

const program = process.argv[2] ?? "build/mdpcosim";
const repetitions = 5;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const work = mkdtempSync(join(tmpdir(), "mdpcosim-report-"));
// Seven columns, 150001 rows.
writeFileSync(join(work, "scenario.yaml"), `
time: {end: 150 s, step: 1 ms}
subsystems:
  A: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 100 N/m, x0: 10 mm}}
  B: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 100 N/m}}
connections:
  spring: {law: spring, between: [A.mass, B.mass], stiffness: 1 kN/m}
record: {every: 1 ms}
`);
try {
  run(program, "run", join(work, "scenario.yaml"), "--out", join(work, "out"), "--quiet");
  const file = join(work, "out", "report.html");
  const writing = [];
  for (let k = 0; k < repetitions; ++k) {
    const begin = performance.now();
    run(program, "report", join(work, "out"));
    writing.push(performance.now() - begin);
  }
  const browser = await launch();
  const drawing = [];
  for (let k = 0; k < repetitions; ++k) {
    const page = await open(browser, file);
    drawing.push(await page.evaluate(() => performance.getEntriesByName("drawn")[0].startTime));
    await page.context().close();
  }
  await browser.close();
  console.log(`values         ${7 * 150001}`);
  console.log(`time to write  ${(median(writing) / 1000).toFixed(2)} s`);
  console.log(`size           ${(statSync(file).size / 1024 / 1024).toFixed(2)} MiB`);
  console.log(`first drawing  ${(median(drawing) / 1000).toFixed(2)} s`);
} finally {
  rmSync(work, { recursive: true });
}
