// What tests and benchmarks of the page share: a real browser that tells of errors and requests, and the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// Status 77 (a skipped test) where there is no browser.
export async function launch() {
  const executablePath = places.find((place) => place && existsSync(place));
  if (!executablePath) {
    console.error("no Chromium here ('tools/setup browser' installs it)");
    process.exit(77);
  }
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

/// Opens a file from disk; problems() is what the page complained about and what it asked of anybody else.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const found = [];
  const own = pathToFileURL(file).href;
  page.setDefaultTimeout(60000);  // a busy machine takes its time
  // Readback is what a test does to look at pixels.
  const counts = (message) => ["error", "warning"].includes(message.type()) && !message.text().includes("willReadFrequently");
  page.on("console", (message) => counts(message) && found.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => found.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (url !== own && !/^(data|blob):/.test(url)) found.push(`request: ${url}`);
  });
  await page.goto(own);
  await page.waitForFunction(() => performance.getEntriesByName("drawn").length > 0);
  page.problems = () => found;
  return page;
}

export function run(program, ...args) {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export function readCsv(file) {
  const [head, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  const names = head.split(",");
  const rows = lines.map((line) => line.split(",").map(Number));
  const column = (name) => {
    const k = names.indexOf(name);
    assert.notEqual(k, -1, `no column ${name}`);
    return rows.map((row) => row[k]);
  };
  return { names, column };
}

/// A number as the page writes it.
export const parse = (text) => Number(text.replace("−", "-"));

export function near(actual, expected, tolerance, what) {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} instead of ${expected} (tolerance ${tolerance})`);
}
