import "uplot/dist/uPlot.min.css";
import "./style.css";
import { type AnalysisReport, analysisSections } from "./analysis";
import { CouplingSection } from "./coupling";
import { type RunReport, Table } from "./data";
import { button, h } from "./dom";
import { shorten } from "./format";
import { graphSection } from "./graph";
import { ProfileSection } from "./profile";
import { scenarioSection } from "./scenario";
import { SceneSection } from "./scene";
import { SeriesSection } from "./series";
import { summarySection } from "./summary";
import { startTheme, toggleTheme } from "./theme";
import { View } from "./view";

/// The one place where the page comes by its data; a live view would ask a running program here instead.
function load(): RunReport | AnalysisReport {
  return JSON.parse(document.getElementById("data")!.textContent!) as RunReport | AnalysisReport;
}

function actions(...first: HTMLElement[]): HTMLElement {
  return h("div", { class: "actions" }, ...first, button("◐", "Light or dark", toggleTheme), button("Print", "Print", () => print()));
}

function header(report: RunReport): HTMLElement {
  const { summary } = report;
  const status = summary?.status ?? "cut off";
  return h(
    "header",
    {},
    h(
      "div",
      {},
      h("p", { class: "product" }, summary?.method === "monolithic" ? "mdpcosim · reference" : "mdpcosim · co-simulation report"),
      h("h1", { title: report.label }, shorten(report.label, 70)),
      h("p", { class: "quiet" }, shorten(summary?.scenario ?? "", 120)),
    ),
    actions(h("span", { class: `badge ${status === "done" ? "good" : status === "interrupted" ? "warn" : "bad"}` }, status)),
  );
}

function navigation(sections: HTMLElement[]): HTMLElement {
  return h("nav", { "aria-label": "Sections" }, ...sections.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent)));
}

function showRun(report: RunReport): void {
  const table = new Table(report.series);
  const view = new View(table.begin, table.end);
  const series = new SeriesSection(report, table, view);
  const coupling = CouplingSection.of(report, view);
  const profile = ProfileSection.of(report);
  const sections = [
    summarySection(report, table),
    graphSection(report),
    SceneSection.of(report, view)?.element,
    series.element,
    coupling?.element,
    profile?.element,
    scenarioSection(report),
  ].filter((part): part is HTMLElement => Boolean(part));
  document.getElementById("report")!.replaceChildren(header(report), navigation(sections), ...sections);
  series.start();
  coupling?.start();
}

function showAnalysis(report: AnalysisReport): void {
  const sections = analysisSections(report);
  const [title, ...details] = report.title.split(":");
  const head = h(
    "header",
    {},
    h("div", {}, h("p", { class: "product" }, `mdpcosim · ${report.what}`), h("h1", {}, title), h("p", { class: "quiet" }, details.join(":").trim())),
    actions(),
  );
  document.getElementById("report")!.replaceChildren(head, navigation(sections), ...sections);
}

startTheme();
const report = load();
if (report.kind === "run") showRun(report);
else showAnalysis(report);
// The frame after the first one: everything has been drawn.
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("drawn")));
