// Pages of stability, order and longtime: tables, curves, maps.
import type { ChartCurve, Marker } from "./chart";
import { doubles } from "./data";
import { h, section, table } from "./dom";
import { number } from "./format";
import { mapFigure, type StabilityMap } from "./map";
import { colour } from "./theme";
import { XyPlot } from "./xyplot";

interface AxisData {
  label: string;
  log: boolean;
  low?: number;
  high?: number;
}
interface PanelData {
  title: string;
  x: AxisData;
  y: AxisData;
  curves: { name: string; x: string; y: string; stroke: string; marker: Marker; colour: number }[];
  references: { x: string; y: string; label: string }[];
  equal: boolean;
}
export interface AnalysisReport {
  kind: "analysis";
  what: "stability" | "order" | "longtime";
  title: string;
  text: string;
  results: any;
  panels: PanelData[];
  columns: number;
  maps: StabilityMap[];
}

const dashes: Record<string, number[] | undefined> = { dashed: [7, 4], dotted: [2, 4] };

function plot(panel: PanelData, width: number): HTMLElement {
  const curves: ChartCurve[] = panel.curves.map((c) => ({
    label: c.name, x: doubles(c.x), y: doubles(c.y), colour: colour(c.colour), marker: c.marker, line: c.stroke !== "none", dash: dashes[c.stroke],
  }));
  const references = panel.references.map((r) => ({ x: doubles(r.x), y: doubles(r.y), label: r.label }));
  return new XyPlot({ ...panel, curves, references, width, height: panel.equal ? width * 0.86 : Math.max(330, width * 0.55) }).element;
}

/// One row per extrapolation, one column per F, at most nine of them.
function stabilityTable(results: any): HTMLElement {
  const rows: any[] = results.results ?? [];
  const all = [...new Set(rows.map((r) => r.F as number))].sort((a, b) => a - b);
  const every = Math.ceil(all.length / 9);
  const F = all.filter((_, i) => i % every === 0 || i === all.length - 1);
  const names = [...new Set(rows.map((r) => r.extrapolation as string))];
  const cell = (name: string, f: number) => {
    const row = rows.find((r) => r.extrapolation === name && r.F === f);
    if (!row) return "";
    const text = row.omega_max !== null ? number(row.omega_max, 5) : row.stable_up_to ? `> ${number(row.stable_up_to, 4)}` : "none";
    return h("span", { title: row.reason ?? "" }, text);
  };
  return table(["extrapolation", "order", ...F.map((f) => `F = ${number(f, 4)}`)],
    names.map((name) => [name, String(rows.find((r) => r.extrapolation === name).order), ...F.map((f) => cell(name, f))]));
}

function orderTable(results: any): HTMLElement {
  const order = (band: any) => (band?.order === null || band?.order === undefined ? "–" : band.order.toFixed(2));
  return table(
    ["extrapolation", "method", "degree", "rates R", "local q", "local v", "theory q / v", "global q", "global v", "cold start q", "cold start v"],
    results.orders.map((r: any) => [r.extrapolation, r.method, String(r.degree), String(r.R), order(r.local.q), order(r.local.v),
      r.theory ? `${r.theory.q} / ${r.theory.v}` : "–", order(r.global.q), order(r.global.v), order(r.global_cold_start.q), order(r.global_cold_start.v)]),
    2,
  );
}

function longtimeTables(results: any): HTMLElement {
  return h("div", {}, ...results.longtime.map((r: any) =>
    h("div", {},
      h("h3", {}, `F = ${number(r.F, 4)}, V = ${number(r.V, 4)}, ω_B/ω_A = ${number(r.frequency_ratio, 4)}, ω_A H = ${number(r.omega_H, 4)} (${r.why_omega_H})`),
      table(["variant", "extrapolation", "coupling damping", "ρ − 1", "frequency error", "damping error", "amplitude after 100 periods"],
        r.variants.map((c: any) => [c.variant, c.extrapolation, number(c.coupling_damping, 4), number(c.rho - 1, 3), number(c.frequency_error, 3),
          number(c.damping_error, 3), c.stable ? number(c.amplitude_after_100_periods, 4) : "unstable"]), 2))));
}

const tables = { stability: stabilityTable, order: orderTable, longtime: longtimeTables };
const leads = {
  stability: "Largest stable ω_A H of the two-mass test system: above it the coupled run grows, however well the subsystems are solved.",
  order: "How fast the error falls with the macro step, measured on two nonlinear oscillators joined by a spring.",
  longtime: "What a coupling does to frequencies and damping over thousands of periods, from the modified equation.",
};

export function analysisSections(report: AnalysisReport): HTMLElement[] {
  const columns = Math.min(report.columns, 3);
  const width = columns === 1 ? 900 : columns === 2 ? 560 : 420;
  const sections = [
    section("table", "Table", leads[report.what], tables[report.what](report.results),
      h("details", {}, h("summary", {}, "As the command prints it"), h("pre", { tabindex: 0 }, report.text))),
    section("curves", "Curves", "Drag a frame to zoom, double click for all; point at a curve to read it.",
      h("div", { class: `panels columns-${columns}` }, ...report.panels.map((panel) => plot(panel, width)))),
  ];
  if (report.maps.length)
    sections.push(section("maps", "Stability maps", "Growth per macro step over the coupling's stiffness F and the macro step. White: stable; the darker, the faster the run grows.",
      h("div", { class: "panels columns-2" }, ...report.maps.map((map) => mapFigure(map)))));
  return sections;
}
