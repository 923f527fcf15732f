// The reports of different runs in a real browser.
//   node report_test.mjs PROGRAM SOURCE_DIR WORK_DIR
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, near, open, parse, readCsv, run } from "./browser.mjs";

const [program, source, work] = process.argv.slice(2);
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const example = (name) => join(source, "examples", name, "scenario.yaml");
const at = (...parts) => join(work, ...parts);

const browser = await launch();
let failed = 0;
async function check(name, body) {
  try {
    await body();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

/// Titles, entries and the values at the cursor of all plots in a section.
const figures = (page, section) =>
  page.$$eval(`#${section} figure.figure`, (list) =>
    list.map((figure) => ({
      title: figure.querySelector(".caption")?.textContent,
      time: figure.querySelector(".at")?.textContent,
      entries: [...figure.querySelectorAll(".entry")].map((entry) => ({
        name: entry.querySelector(".name").textContent,
        value: entry.querySelector("b")?.textContent,
        dashed: Boolean(entry.querySelector(".dashed")),
      })),
    })),
  );
const timeOf = (figure) => parse(/t = (\S+) s/.exec(figure.time)[1]);
const figure = (page, section, k = 0) => page.locator(`#${section} figure.figure`).nth(k);

/// Moves the mouse to a share of a plot's width.
async function point(plot, share, shareDown = 0.5) {
  const over = plot.locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await plot.page().mouse.move(box.x + share * box.width, box.y + shareDown * box.height);
  return box;
}
async function drag(plot, from, to) {
  const box = await point(plot, from);
  const { mouse } = plot.page();
  await mouse.down();
  await mouse.move(box.x + to * box.width, box.y + box.height / 2, { steps: 4 });
  await mouse.up();
}
async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await file.path());
}

// ---- two masses with the reference overlaid -------------------------------------------------------------------------
run(program, "run", example("two-mass"), "--out", at("two-mass"), "--report", "--quiet");
run(program, "run", example("two-mass"), "--out", at("reference"), "--monolithic", "--quiet");
run(program, "report", at("two-mass"), "--with", at("reference"), "--out", at("with.html"));
const a = readCsv(at("two-mass", "results.csv"));
const b = readCsv(at("reference", "results.csv"));
const times = a.column("time");

await check("a finished run: good news first, tables, graph", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  assert.match(await page.textContent(".findings li"), /ended as asked: 2\s000 macro steps/);
  assert.equal(await page.getAttribute(".findings li", "class"), "good");
  assert.deepEqual(await page.$$eval("#system .subsystem title", (list) => list.map((x) => x.textContent.split("\n")[0])), ["A", "B"]);
  assert.match(await page.textContent("#system .connection title"), /spring: spring \(stiffness = 1000 N\/m\)[^]*A\.mass receives −u/);
  assert.match(await page.textContent("#scenario pre"), /model: mass-spring-damper/);
  const names = await page.$$eval("nav a", (list) => list.map((x) => x.textContent));
  assert.deepEqual(names, ["Summary", "Coupled system", "Animation", "Time series", "Coupling quality", "Where the time went", "Scenario"]);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("curves: the right values at the cursor, drawn where they belong", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  for (const share of [0.03, 0.4, 0.77]) {
    await point(figure(page, "series"), share);
    const [positions, force] = await figures(page, "series");
    const t = timeOf(positions);
    near(t, 2 * share, 0.02, "time at the cursor");
    const row = times.findIndex((x) => Math.abs(x - t) < 1e-9);
    assert.notEqual(row, -1, `no row at ${t}`);
    for (const { name, value } of [...positions.entries, ...force.entries])
      near(parse(value), a.column(name)[row], 1e-6 * Math.abs(a.column(name)[row]) + 1e-12, `${name} at ${t}`);
    // The canvas has the curve's colour where the cursor's point is.
    const colours = await figure(page, "series").evaluate((element) => {
      const canvas = element.querySelector("canvas");
      const over = element.querySelector(".u-over").getBoundingClientRect();
      const frame = canvas.getBoundingClientRect();
      const scale = canvas.width / frame.width;
      return [...element.querySelectorAll(".u-cursor-pt")].map((pt) => {
        const box = pt.getBoundingClientRect();
        const [x, y] = [box.x + box.width / 2 - frame.x, box.y + box.height / 2 - frame.y].map((v) => Math.round(v * scale));
        const { data } = canvas.getContext("2d").getImageData(x - 2, y - 2, 5, 5);
        const found = [];
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 128) found.push([data[i], data[i + 1], data[i + 2]].join());
        return over.width > 0 ? found : [];
      });
    });
    assert.ok(colours[0].includes("0,114,178"), `A's curve is not at its point: ${colours[0]}`);
    assert.ok(colours[1].includes("213,94,0"), `B's curve is not at its point: ${colours[1]}`);
  }
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("zoom by dragging, by keys and buttons; pan; all", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  const range = async () => {
    const found = [];
    for (const share of [0.001, 0.999]) {
      await point(figure(page, "series"), share);
      found.push(timeOf((await figures(page, "series"))[0]));
    }
    return found;
  };
  await drag(figure(page, "series"), 0.25, 0.5);
  let [from, to] = await range();
  near(from, 0.5, 0.02, "begin after dragging");
  near(to, 1, 0.02, "end after dragging");
  // Plots over time go together: the second one has the same interval.
  await point(figure(page, "series", 1), 0.001);
  near(timeOf((await figures(page, "series"))[1]), 0.5, 0.02, "begin of the other plot");
  await page.keyboard.down("Shift");
  await drag(figure(page, "series"), 0.8, 0.3);
  await page.keyboard.up("Shift");
  [from, to] = await range();
  near(from, 0.75, 0.02, "begin after panning");
  near(to, 1.25, 0.02, "end after panning");
  await figure(page, "series").locator(".plot").focus();
  await page.keyboard.press("0");
  [from, to] = await range();
  assert.deepEqual([from, to], [0, 2]);
  await figure(page, "series").getByRole("button", { name: "Zoom in" }).click();
  [from, to] = await range();
  near(to - from, 1, 0.03, "length after zooming in");
  await figure(page, "series").locator(".plot").focus();
  await page.keyboard.press("0");
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const [first] = await figures(page, "series");
  near(timeOf(first), 0.01, 1e-9, "time after two keys");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("choosing variables", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  const shown = async () => (await figures(page, "series")).map((x) => x.entries.map((e) => e.name));
  assert.deepEqual(await shown(), [["A.mass.position", "B.mass.position"], ["spring.u"]]);
  await page.getByLabel("Find variables").fill("mass.vel");
  assert.deepEqual(await page.$$eval("#series .names label span", (list) => list.map((x) => x.textContent)), ["A.mass.velocity", "B.mass.velocity"]);
  await page.locator("#series .names label", { hasText: "B.mass.velocity" }).click();
  assert.deepEqual(await shown(), [["A.mass.position", "B.mass.position"], ["B.mass.velocity"], ["spring.u"]]);
  await page.getByLabel("Find variables").fill("");
  await page.locator("#series .names label", { hasText: "spring.u" }).locator("input").focus();
  await page.keyboard.press("Space");
  assert.deepEqual(await shown(), [["A.mass.position", "B.mass.position"], ["B.mass.velocity"]]);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("a second run overlaid, the error below", async () => {
  const page = await open(browser, at("with.html"));
  const [both, error] = await figures(page, "series");
  assert.deepEqual(both.entries.map((e) => [e.name, e.dashed]), [
    ["A.mass.position", false], ["B.mass.position", false], ["A.mass.position (reference)", true], ["B.mass.position (reference)", true]]);
  assert.match(error.title, /^Error against reference/);
  await point(figure(page, "series", 1), 0.6);
  const [values, errors] = await figures(page, "series");
  const row = times.findIndex((x) => Math.abs(x - timeOf(errors)) < 1e-9);
  for (const [k, name] of ["A.mass.position", "B.mass.position"].entries()) {
    const difference = a.column(name)[row] - b.column(name)[row];
    near(parse(values.entries[2 + k].value), b.column(name)[row], 1e-6 * Math.abs(b.column(name)[row]), `${name} of the reference`);
    near(parse(errors.entries[k].value), difference, 1e-5 * Math.abs(difference), `error of ${name}`);
  }
  assert.match(await page.textContent("#summary"), /Against reference the largest deviation/);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("quality of the couplings: the largest jump is in the curve", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  const summary = JSON.parse(readFileSync(at("two-mass", "summary.json"), "utf8"));
  const jump = figure(page, "coupling", 0);
  let most = 0;
  const quality = JSON.parse(readFileSync(at("two-mass", "coupling.json"), "utf8"));
  const worst = quality.connections[0].jump.indexOf(Math.max(...quality.connections[0].jump));
  const where = quality.time[worst] / quality.time.at(-1);
  for (let share = where - 0.01; share < where + 0.01; share += 0.0005) {
    await point(jump, Math.min(0.999, Math.max(0.001, share)));
    most = Math.max(most, parse((await figures(page, "coupling"))[0].entries[0].value));
  }
  near(most, summary.connections[0].jump_max, 1e-5 * most, "largest jump");
  await figure(page, "coupling", 2).locator(".plot").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowLeft");  // from the right
  near(parse((await figures(page, "coupling"))[2].entries[0].value), summary.connections[0].energy_error, 1e-5 * Math.abs(summary.connections[0].energy_error), "energy error at the end");
  assert.match(await page.textContent("#coupling"), /macro step is constant, H = 1 ms/);
  await page.context().close();
});

await check("power bonds: their residuals in the table and over time", async () => {
  const folder = at("bonds");
  run(program, "run", join(source, "examples", "quarter-car", "signals.yaml"), "--out", folder, "--report", "--quiet");
  const { bonds } = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"));
  const trace = JSON.parse(readFileSync(join(folder, "coupling.json"), "utf8"));
  assert.ok(bonds.length > 1);
  assert.deepEqual(trace.bonds.map((b) => b.name), bonds.map((b) => b.name));
  const page = await open(browser, join(folder, "report.html"));
  const rows = await page.$$eval("#bonds tbody tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map((row) => row[0]), bonds.map((b) => b.name));
  bonds.forEach((b, k) => {
    near(parse(rows[k][5]), b.energy_error, 1e-3 * Math.abs(b.energy_error), `${b.name}: residual`);
    near(trace.bonds[k].energy_error.at(-1), b.energy_error, 1e-6 * Math.abs(b.energy_error), `${b.name}: over time`);
  });
  const shown = await figures(page, "coupling");
  const at_end = shown.findIndex((f) => f.title.startsWith("Energy error"));
  assert.deepEqual(shown[at_end].entries.map((e) => e.name), bonds.map((b) => `bond ${b.name}`));
  await figure(page, "coupling", at_end).locator(".plot").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowLeft");
  near(parse((await figures(page, "coupling"))[at_end].entries[0].value), bonds[0].energy_error, 1e-5 * Math.abs(bonds[0].energy_error), "at the end");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("the time line: single macro steps, all, idle shares", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  const caption = () => page.textContent("#profile figcaption .quiet");
  const first = await caption();
  assert.match(first, /^macro step \d+: /);
  const step = (text) => Number(/macro step (\d+)/.exec(text)[1]);
  await page.getByRole("button", { name: "Next macro step" }).click();
  assert.ok(step(await caption()) > step(first));
  const works = await page.$$eval("#profile rect.work title", (list) => list.map((x) => x.textContent));
  assert.ok(works.some((text) => text.startsWith("A, macro step")) && works.some((text) => text.startsWith("B, macro step")), works.join());
  await page.locator("#profile .timeline-frame").focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await caption(), first);
  await page.keyboard.press("0");
  assert.match(await caption(), /\d+ measured macro steps/);
  await page.keyboard.press("+");
  assert.match(await page.textContent("#profile table"), /worker 0/);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("the time line: a short macro step beside a thousand times longer ones", async () => {
  const html = readFileSync(at("two-mass", "report.html"), "utf8");
  const [, text] = /<script id="data" type="application\/json">(.*?)<\/script>/s.exec(html);
  const data = JSON.parse(text);
  let now = 0;
  data.profile.events = [0, 1, 2, 3, 4].flatMap((number) => {
    const length = number % 2 ? 4000 : 2;
    const begin = now;
    now += length + 0.03;
    return [[0, 0, number, begin, 0.5 * length], [1, 0, number, begin + 0.5 * length, 0.5 * length], [-1, 0, number, begin, length]];
  });
  writeFileSync(at("uneven.html"), html.replace(text, () => JSON.stringify(data)));
  const page = await open(browser, at("uneven.html"));
  const caption = () => page.textContent("#profile figcaption .quiet");
  const shown = [await caption()];
  for (const name of ["Next macro step", "Next macro step", "Macro step before"]) {
    await page.getByRole("button", { name }).click();
    shown.push(await caption());
  }
  assert.deepEqual(shown.map((x) => x.split(":")[0]), [2, 3, 4, 3].map((number) => `macro step ${number}`));
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("the animation moves as the masses do, in step with the plots", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  const places = () => page.$$eval("#animation rect.body", (list) => list.map((x) => Number(x.getAttribute("x"))));
  const frames = [];
  for (const frame of [0, 60, 117]) {
    await page.locator("#animation input[type=range]").fill(String(frame));
    const t = parse(/t = (\S+) s/.exec(await page.textContent("#animation .clock"))[1]);
    near(timeOf((await figures(page, "series"))[0]), t, 1e-4, "time of the plots");
    const row = times.findIndex((x) => Math.abs(x - t) < 1e-4);
    frames.push({ x: await places(), y: ["A.mass.position", "B.mass.position"].map((name) => a.column(name)[row]) });
  }
  const [p, q, r] = frames;
  for (const k of [0, 1]) near((r.x[k] - p.x[k]) / (q.x[k] - p.x[k]), (r.y[k] - p.y[k]) / (q.y[k] - p.y[k]), 1e-3, `motion of mass ${k}`);
  await point(figure(page, "series"), 0.5);  // and the other way round
  near(parse(/t = (\S+) s/.exec(await page.textContent("#animation .clock"))[1]), 1, 0.02, "time of the animation");
  const before = Number(await page.inputValue("#animation input[type=range]"));
  await page.getByRole("button", { name: "Play or pause" }).click();
  await page.waitForFunction((n) => Number(document.querySelector("#animation input[type=range]").value) > n, before);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("figures are saved as SVG and PNG", async () => {
  const page = await open(browser, at("two-mass", "report.html"));
  for (const [section, k] of [["system", 0], ["series", 0], ["coupling", 0], ["profile", 0], ["animation", 0]]) {
    const tools = figure(page, section, k);
    const svg = (await download(page, tools.getByRole("button", { name: /as SVG/ }))).toString();
    assert.match(svg, /^<svg [^]*<\/svg>$/, section);
    assert.ok(!svg.includes("var(--"), `${section}: colours by name`);
    const png = await download(page, tools.getByRole("button", { name: /as PNG/ }));
    assert.equal(png.subarray(1, 4).toString(), "PNG", section);
    assert.ok(png.readUInt32BE(16) > 300, `${section}: width`);
  }
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("light, dark, printed, and on a small screen", async () => {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const page = await open(browser, at("two-mass", "report.html"), { colorScheme: "dark" });
  assert.equal(await ground(page), "rgb(17, 22, 29)");
  await page.getByRole("button", { name: "Light or dark" }).click();
  assert.equal(await ground(page), "rgb(255, 255, 255)");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("nav").isVisible(), false);
  const paper = await page.pdf({ format: "A4" });
  assert.equal(paper.subarray(0, 4).toString(), "%PDF");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
  const small = await open(browser, at("two-mass", "report.html"), { viewport: { width: 420, height: 800 } });
  assert.ok(await small.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the screen");
  await small.context().close();
});

// ---- pendulums, shapes in the plane and in space --------------------------------------------------------------------
await check("pendulums swing about their pivots", async () => {
  run(program, "run", example("pendulum-ode"), "--out", at("pendulum"), "--report", "--quiet");
  const page = await open(browser, at("pendulum", "report.html"));
  const phi = readCsv(at("pendulum", "results.csv")).column("left.phi");
  const bob = () => page.$eval("#animation circle.body", (x) => [Number(x.getAttribute("cx")), Number(x.getAttribute("cy"))]);
  await page.locator("#animation input[type=range]").fill("0");
  const start = await bob();
  await page.locator("#animation input[type=range]").fill("7");
  const next = await bob();
  const t = parse(/t = (\S+) s/.exec(await page.textContent("#animation .clock"))[1]);
  const angle = phi[Math.round(t / 0.02)];
  // Two places on a circle of radius L, whose scale is not known: its ratio of moves is.
  near((next[0] - start[0]) / (next[1] - start[1]), (Math.sin(angle) - Math.sin(phi[0])) / (Math.cos(angle) - Math.cos(phi[0])), 1e-3, "direction");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("bodies in space are projected and can be turned", async () => {
  writeFileSync(at("spatial.yaml"), `
time: {end: 1 s, step: 10 ms}
subsystems:
  top:
    ode:
      states: {phi: 0 rad}
      equations: {phi: 3}
    scene:
      - {box: [cos(phi), 0, sin(phi)], size: [0.4, 0.2, 0.1], quaternion: [cos(phi/2), 0, -sin(phi/2), 0]}
      - {rod: [[0, 0, 0], [cos(phi), 0, sin(phi)]], size: 0.02}
`);
  run(program, "run", at("spatial.yaml"), "--out", at("spatial"), "--report", "--quiet");
  const page = await open(browser, at("spatial", "report.html"));
  const drawing = () => page.$eval("#animation svg.scene", (x) => x.innerHTML);
  const becomesAnother = (than) => page.waitForFunction((old) => document.querySelector("#animation svg.scene").innerHTML !== old, than);
  assert.equal(await page.locator("#animation path.body").count(), 3);
  const first = await drawing();
  await page.locator("#animation .scene-frame").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await becomesAnother(first);
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("ArrowRight");
  await becomesAnother(first);
  const turned = await drawing();
  await page.locator("#animation svg.scene").scrollIntoViewIfNeeded();
  const box = await page.locator("#animation svg.scene").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 360, box.y + 120, { steps: 3 });
  await page.mouse.up();
  await becomesAnother(turned);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("a chain from vector outputs and toothed wheels move together", async () => {
  const pins = 40, rows = 61, radius = 1, half = 2;
  const around = 2 * Math.PI * radius + 4 * half;
  const pin = (t, k) => {
    let s = (((t + (k * around) / pins) % around) + around) % around;
    if (s < 2 * half) return [half - s, radius];
    if ((s -= 2 * half) < Math.PI * radius) return [-half - Math.sin(s / radius) * radius, Math.cos(s / radius) * radius];
    if ((s -= Math.PI * radius) < 2 * half) return [-half + s, -radius];
    s -= 2 * half;
    return [half + Math.sin(s / radius) * radius, -Math.cos(s / radius) * radius];
  };
  const wheel = Array.from({ length: 48 }, (_, k) => ((r, a) => [r * Math.cos(a), r * Math.sin(a)])(k % 2 ? 0.85 : 1.05, (Math.PI * k) / 24));
  const list = Array.from({ length: pins }, (_, k) => k);
  const lines = [["time", ...list.map((k) => `pins.x[${k}]`), ...list.map((k) => `pins.y[${k}]`)]];
  for (let row = 0; row < rows; ++row) lines.push([0.05 * row, ...list.map((k) => pin(0.05 * row, k)[0]), ...list.map((k) => pin(0.05 * row, k)[1])]);
  writeFileSync(at("pins.csv"), lines.map((line) => line.join()).join("\n"));
  const outline = JSON.stringify(wheel.map((point) => point.map((v) => Number(v.toFixed(4)))));
  writeFileSync(at("chain.yaml"), `
time: {end: 3 s, step: 50 ms}
subsystems:
  drive:
    file: pins.csv
    scene:
      - {outline: ${outline}, at: [-2, 0], angle: t}
      - {outline: ${outline}, at: [2, 0], angle: t}
      - {outline: [[-1.5, 1.1], [0, 1.06], [1.5, 1.1]], closed: no, size: 0.06}
      - {chain: [pins.x, pins.y], size: 0.12}
`);
  run(program, "run", at("chain.yaml"), "--out", at("chain"), "--report", "--quiet");
  const page = await open(browser, at("chain", "report.html"));
  for (const frame of [0, 7, 60]) {
    await page.locator("#animation input[type=range]").fill(String(frame));
    const t = parse(/t = (\S+) s/.exec(await page.textContent("#animation .clock"))[1]);
    near(t, 0.05 * frame, 1e-4, "time of the picture");
    const [wheelPath, , guide, , rollers] = await page.$$eval("#animation svg.scene path", (x) => x.map((y) => y.getAttribute("d")));
    const points = (d) => [...d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]);
    const seen = points(rollers);
    assert.equal(seen.length, pins);
    assert.equal(points(wheelPath).length, 48);
    assert.equal(points(guide).length, 3);
    // Pixels are a + zoom x, b - zoom y; pins, wheels and guide with the same three numbers.
    const [left, right] = [list.reduce((m, k) => (pin(t, k)[0] < pin(t, m)[0] ? k : m), 0), list.reduce((m, k) => (pin(t, k)[0] > pin(t, m)[0] ? k : m), 0)];
    const zoom = (seen[right][0] - seen[left][0]) / (pin(t, right)[0] - pin(t, left)[0]);
    const a = seen[left][0] - zoom * pin(t, left)[0];
    const b = seen[left][1] + zoom * pin(t, left)[1];
    list.forEach((k) => {
      near(seen[k][0], a + zoom * pin(t, k)[0], 0.3, `pin ${k}, x`);
      near(seen[k][1], b - zoom * pin(t, k)[1], 0.3, `pin ${k}, y`);
    });
    const tooth = points(wheelPath)[0];
    near(tooth[0], a + zoom * (-2 + 1.05 * Math.cos(t)), 0.3, "tooth, x");
    near(tooth[1], b - zoom * 1.05 * Math.sin(t), 0.3, "tooth, y");
    near(points(guide)[0][1], b - zoom * 1.1, 0.3, "guide");
  }
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("connections begin in the middle of wheels", async () => {
  const wheel = JSON.stringify(Array.from({ length: 12 }, (_, k) => [Math.cos((Math.PI * k) / 6), Math.sin((Math.PI * k) / 6)].map((v) => Number(v.toFixed(4)))));
  const rotor = (x) => `{model: inertia, set: {J: 1, w0: ${x}}, scene: [{outline: ${wheel}, at: [${x}, 0], angle: shaft_angle, port: shaft}]}`;
  writeFileSync(at("wheels.yaml"), `
time: {end: 1 s, step: 10 ms}
subsystems:
  a: ${rotor(-3)}
  b: ${rotor(3)}
connections: {shaft: {law: spring, between: [a.shaft, b.shaft], stiffness: 1}}
`);
  run(program, "run", at("wheels.yaml"), "--out", at("wheels"), "--report", "--quiet");
  const page = await open(browser, at("wheels", "report.html"));
  await page.locator("#animation input[type=range]").fill("30");
  const paths = await page.$$eval("#animation svg.scene path", (x) => x.map((y) => y.getAttribute("d")));
  const points = (d) => [...d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]);
  const wheels = paths.filter((d) => d.endsWith("Z")).map(points);
  const spring = points(paths.find((d) => !d.endsWith("Z")));
  assert.equal(wheels.length, 2);
  wheels.forEach((corners, k) => {
    const end = spring[k === 0 ? 0 : spring.length - 1];
    for (const i of [0, 1]) near(end[i], corners.reduce((sum, corner) => sum + corner[i], 0) / corners.length, 0.3, "end of the spring");
  });
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("micro steps over time are drawn where they were recorded", async () => {
  writeFileSync(at("micro.yaml"), `
time: {end: 1 s, step: 2 ms}
subsystems:
  A: {model: mass-spring-damper, set: {mass: 1, stiffness: 1e4, x0: 10 mm}, solver: {name: erk-3, rtol: 1e-5}}
  B: {model: mass-spring-damper, set: {mass: 1, stiffness: 100}, solver: {name: erk-3, rtol: 1e-5}}
connections:
  spring: {law: spring, between: [A.mass, B.mass], stiffness: 100}
record: {every: 20 ms, only: ["*.position", "*.micro-steps"]}
`);
  run(program, "run", at("micro.yaml"), "--out", at("micro"), "--report", "--quiet", "--no-verify");
  const csv = readCsv(at("micro", "results.csv"));
  const page = await open(browser, at("micro", "report.html"));
  await point(figure(page, "series", 1), 0.5);
  const drawn = (await figures(page, "series"))[1];
  assert.deepEqual(drawn.entries.map((x) => x.name), ["A.micro-steps", "B.micro-steps"]);
  const row = Math.round(timeOf(drawn) / 0.02);
  for (const entry of drawn.entries) assert.equal(parse(entry.value), csv.column(entry.name)[row], entry.name);
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

// ---- hostile names, a failed run ------------------------------------------------------------------------------------
await check("hostile names are text", async () => {
  const markup = "<img src=x onerror=\"window.hacked=1\">";
  const names = [markup, "</script><script>window.hacked=2</script>", "x".repeat(3000), "Öldruck-压力-давление-🙂", "a&lt;b", "<!--"];
  const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`);
  writeFileSync(at("hostile.csv"), `time,${quoted.join()}\n0,${names.map((_, k) => k).join()}\n1,${names.map((_, k) => 2 * k).join()}\n`);
  writeFileSync(at("hostile <b>&amp; name.yaml"), `time: {end: 1 s, step: 0.1 s}\nsubsystems: {f: {file: hostile.csv}, ${"s".repeat(200)}: {model: mass-spring-damper}}\n`);
  run(program, "run", at("hostile <b>&amp; name.yaml"), "--out", at("hostile <i>run"), "--report", "--quiet");
  const page = await open(browser, at("hostile <i>run", "report.html"));
  const text = await page.evaluate(() => document.body.innerText);
  for (const name of [names[0], "压力-давление-🙂", "hostile <b>&amp; name.yaml", "hostile <i>run"]) assert.ok(text.includes(name), `'${name}' is not shown`);
  const listed = await page.$$eval("#series .names label", (list) => list.map((x) => x.title));
  for (const name of names) assert.ok(listed.some((x) => x.endsWith(`.${name}`)), `'${name.slice(0, 60)}' is not listed`);
  for (const box of await page.locator("#series .names label").all()) if (!(await box.locator("input").isChecked())) await box.click();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main img, main script, main b > img").count(), 0);
  const svg = (await download(page, figure(page, "series").getByRole("button", { name: /as SVG/ }))).toString();
  assert.ok(!svg.includes("<img") && !svg.includes("<script"));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "long names widen the page");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("a coupling that diverges is told first", async () => {
  assert.throws(() => run(program, "run", example("two-mass"), "--step", "60 ms", "--end", "30 s", "--out", at("unstable"), "--report", "--quiet"));
  const page = await open(browser, at("unstable", "report.html"));
  assert.equal(await page.getAttribute(".findings li", "class"), "bad");
  assert.match(await page.textContent(".findings li"), /The run failed: connection 'spring' diverges/);
  assert.equal(await page.textContent(".badge"), "failed");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("macro steps that follow the error are shown as they were", async () => {
  const text = readFileSync(example("two-mass"), "utf8").replace("extrapolation: lin-2-3-opt\n", "step-control: {rtol: 1e-5, atol: 1e-8}\n");
  writeFileSync(at("controlled.yaml"), text);
  run(program, "run", at("controlled.yaml"), "--out", at("controlled"), "--report", "--quiet");
  const control = JSON.parse(readFileSync(at("controlled", "summary.json"), "utf8")).step_control;
  const attempts = readFileSync(at("controlled", "steps.csv"), "utf8").trimEnd().split("\n").slice(1).map((line) => line.split(",").map(Number));
  assert.ok(control.largest > 2 * control.smallest, "the step does not change");
  const page = await open(browser, at("controlled", "report.html"));
  await point(figure(page, "coupling", 0), 0.5);
  const [steps, errors] = await figures(page, "coupling");
  assert.equal(steps.title, "Macro step");
  assert.match(errors.title, /^Error of a macro step, as a multiple of the tolerance \(rtol 1e-5, atol 1e-8\)/);
  // One of the accepted steps that end at the cursor's time, or shortly before it in the same point.
  const accepted = attempts.filter((x) => x[3] === 1);
  const t = timeOf(steps);
  const { macro_steps_per_point: many } = JSON.parse(readFileSync(at("controlled", "coupling.json"), "utf8"));
  const last = accepted.findIndex((x) => Math.abs(x[0] + x[1] - t) < 1e-6);
  const gathered = accepted.slice(Math.max(0, last + 1 - many), last + 1);
  near(parse(steps.entries[0].value), Math.max(...gathered.map((x) => x[1])), 1e-6 * t, "largest H");
  near(parse(errors.entries[0].value), Math.max(...gathered.map((x) => x[2])), 1e-3, "error");
  const rejected = steps.entries.filter((e) => e.name.startsWith("rejected"));
  assert.deepEqual(rejected.map((e) => e.name), control.rejected ? [`rejected (${control.rejected})`] : []);
  assert.match(await page.textContent(".tiles"), new RegExp(`${control.rejected} rejected`));
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

await check("a variable macro step and rejected steps make a curve", async () => {
  const folder = at("steps");
  run(program, "run", example("two-mass"), "--out", folder, "--quiet");
  const trace = JSON.parse(readFileSync(join(folder, "coupling.json"), "utf8"));
  trace.H_max = trace.time.map((_, k) => 1e-3 * (1 + (k % 7)));
  trace.H_min = trace.H_max;
  trace.rejected = trace.time.map((_, k) => (k === 100 ? 2 : 0));
  trace.H_rejected = trace.time.map((_, k) => (k === 100 ? 0.009 : 0));
  writeFileSync(join(folder, "coupling.json"), JSON.stringify(trace));
  run(program, "report", folder);
  const page = await open(browser, join(folder, "report.html"));
  const [steps] = await figures(page, "coupling");
  assert.equal(steps.title, "Macro step");
  assert.ok(steps.entries.some((e) => e.name === "rejected (2)"));
  await point(figure(page, "coupling", 0), trace.time[100] / 2);
  const [read] = await figures(page, "coupling");
  near(parse(read.entries.find((e) => e.name.startsWith("rejected")).value), 0.009, 1e-8, "length of the rejected step");
  assert.deepEqual(page.problems(), []);
  await page.context().close();
});

// ---- analyses -------------------------------------------------------------------------------------------------------
await check("stability, order and longtime: tables, curves, maps", async () => {
  for (const [what, ...options] of [["stability", "--extrapolation", "lin-2-3-opt"], ["order", "--extrapolation", "poly-1"], ["longtime", "--extrapolation", "lin-2-3-opt", "--periods", "5"]]) {
    const numbers = JSON.parse(run(program, what, ...options, "--html", at(`${what}.html`), "--json"));
    const page = await open(browser, at(`${what}.html`));
    assert.ok((await page.locator("#curves svg .curves path").count()) > 0, what);
    if (what === "stability") {
      const cells = await page.$$eval("#table tbody tr td", (list) => list.map((x) => x.textContent));
      numbers.results.forEach((row, k) => near(parse(cells[2 + k]), row.omega_max, 1e-4 * row.omega_max, `F = ${row.F}`));
      // The map is white below the limit and coloured above it.
      const map = page.locator("#maps svg.map");
      const reading = page.locator("#maps .reading");
      const frame = await map.boundingBox();
      await map.scrollIntoViewIfNeeded();
      const read = async (down) => {
        const box = await map.boundingBox();
        await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * down);
        return reading.textContent();
      };
      assert.ok(frame.width > 300);
      assert.match(await read(0.12), /grows by/);
      assert.match(await read(0.8), /stable$/);
    }
    const before = await page.locator("#curves figure svg").first().innerHTML();
    await page.locator("#curves .xy").first().focus();
    await page.keyboard.press("+");
    assert.notEqual(await page.locator("#curves figure svg").first().innerHTML(), before, `${what}: zoom`);
    assert.deepEqual(page.problems(), [], what);
    await page.context().close();
  }
});

await browser.close();
console.log(failed ? `${failed} failed` : "all as expected");
process.exit(failed ? 1 : 0);
