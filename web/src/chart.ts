// A chart as SVG: for files that are saved, and for the curves of analyses, which run in any direction.
import { s } from "./dom";
import { number, shorten } from "./format";

export type Marker = "none" | "circle" | "square" | "triangle" | "diamond" | "cross" | "dot";
export interface ChartCurve {
  label: string;
  x: ArrayLike<number>;
  y: ArrayLike<number | null>;
  colour: string;
  dash?: number[];
  line?: boolean;
  marker?: Marker;
  thin?: boolean;
}
export interface ChartAxis {
  label: string;
  log: boolean;
  min: number;
  max: number;
}
export interface Chart {
  title: string;
  x: ChartAxis;
  y: ChartAxis;
  curves: ChartCurve[];
  width: number;
  height: number;
  legend: boolean;
}

export const margins = { left: 78, right: 16, top: 30, bottom: 46 };

export class Scale {
  private readonly from: number;
  private readonly to: number;
  constructor(
    readonly axis: ChartAxis,
    readonly low: number,
    readonly high: number,
  ) {
    this.from = axis.log ? Math.log10(axis.min) : axis.min;
    this.to = axis.log ? Math.log10(axis.max) : axis.max;
  }
  at(value: number): number {
    const v = this.axis.log ? Math.log10(value) : value;
    return this.low + ((v - this.from) / (this.to - this.from)) * (this.high - this.low);
  }
  valueAt(place: number): number {
    const v = this.from + ((place - this.low) / (this.high - this.low)) * (this.to - this.from);
    return this.axis.log ? 10 ** v : v;
  }
  /// Round numbers, at most about one in 70 pixels.
  ticks(): number[] {
    const room = Math.max(2, Math.abs(this.high - this.low) / 70);
    if (this.axis.log) {
      const decades = this.to - this.from;
      if (decades >= 1.5) {
        const every = Math.max(1, Math.ceil(decades / room));
        const out = [];
        for (let k = Math.ceil(this.from - 1e-9); k <= this.to + 1e-9; k += every) out.push(10 ** k);
        return out;
      }
    }
    const min = this.axis.min;
    const span = this.axis.max - min;
    const raw = span / room;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((size) => size >= raw * 0.999) ?? 10 * power;
    const out = [];
    for (let k = Math.ceil(min / step - 1e-9); k * step <= this.axis.max + 1e-9 * span; ++k) out.push(k * step);
    return out;
  }
}

export function tickText(value: number, neighbours: number[]): string {
  const step = neighbours.length > 1 ? Math.abs(neighbours[1] - neighbours[0]) : Math.abs(value);
  return number(Math.abs(value) < step * 1e-6 ? 0 : Number(value.toPrecision(10)), 6);
}

/// Ends that hold all values, with a little room.
export function axisOver(label: string, log: boolean, values: Iterable<ArrayLike<number | null>>): ChartAxis {
  let min = Infinity;
  let max = -Infinity;
  for (const list of values)
    for (let i = 0; i < list.length; ++i) {
      const v = list[i];
      if (v === null || !Number.isFinite(v) || (log && v <= 0)) continue;
      min = Math.min(min, v);
      max = Math.max(max, v);
    }
  if (min > max) return { label, log, min: log ? 0.1 : 0, max: 1 };
  if (log) {
    const room = Math.max(0.05 * Math.log10(max / min), 0.05);
    return { label, log, min: min / 10 ** room, max: max * 10 ** room };
  }
  const room = max > min ? 0.05 * (max - min) : Math.abs(max) * 0.1 || 1;
  return { label, log, min: min - room, max: max + room };
}

function markerShape(kind: Marker, x: number, y: number): string {
  const p = (...places: [number, number][]) =>
    `M${places.map(([dx, dy]) => `${(x + dx).toFixed(2)} ${(y + dy).toFixed(2)}`).join("L")}Z`;
  switch (kind) {
    case "square":
      return p([-3, -3], [3, -3], [3, 3], [-3, 3]);
    case "triangle":
      return p([0, -4], [3.6, 3], [-3.6, 3]);
    case "diamond":
      return p([0, -4.2], [4.2, 0], [0, 4.2], [-4.2, 0]);
    case "cross":
      return `M${x - 3} ${y - 3}l6 6M${x - 3} ${y + 3}l6 -6`;
    default: {
      const r = kind === "dot" ? 1.3 : 3.2;
      return `M${(x - r).toFixed(2)} ${y.toFixed(2)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    }
  }
}

function curvePaths(curve: ChartCurve, x: Scale, y: Scale): SVGElement[] {
  let line = "";
  let marks = "";
  let drawing = false;
  for (let i = 0; i < curve.x.length; ++i) {
    const value = curve.y[i];
    const usable =
      value !== null && Number.isFinite(value) && (!y.axis.log || value > 0) && (!x.axis.log || curve.x[i] > 0);
    if (!usable) {
      drawing = false;
      continue;
    }
    const px = x.at(curve.x[i]);
    const py = Math.min(Math.max(y.at(value), -1e5), 1e5);
    line += `${drawing ? "L" : "M"}${px.toFixed(2)} ${py.toFixed(2)}`;
    drawing = true;
    if (curve.marker && curve.marker !== "none") marks += markerShape(curve.marker, px, py);
  }
  const stroke = `var(--${curve.colour})`;
  const out: SVGElement[] = [];
  if (curve.line !== false)
    out.push(
      s("path", {
        d: line,
        fill: "none",
        stroke,
        "stroke-width": curve.thin ? 1 : 1.8,
        "stroke-linejoin": "round",
        "stroke-dasharray": curve.dash?.join(" "),
      }),
    );
  if (marks) {
    const open = curve.marker === "cross";
    out.push(s("path", { d: marks, fill: open ? "none" : stroke, stroke: open ? stroke : "none", "stroke-width": 1.5 }));
  }
  return out;
}

function legend(curves: ChartCurve[], width: number, top: number): { items: SVGElement[]; height: number } {
  const items: SVGElement[] = [];
  let x = margins.left;
  let y = top + 14;
  const named = curves.filter((curve, i) => curve.label && curves.findIndex((c) => c.label === curve.label) === i);
  for (const curve of named) {
    const text = shorten(curve.label, 48);
    const room = 38 + 7 * [...text].length;
    if (x + room > width - margins.right && x > margins.left) {
      x = margins.left;
      y += 18;
    }
    items.push(
      ...curvePaths({ ...curve, x: [0, 22], y: [0, 0] }, new Scale({ label: "", log: false, min: 0, max: 22 }, x, x + 22),
        new Scale({ label: "", log: false, min: -1, max: 1 }, y + 10, y - 10)),
      s("text", { x: x + 28, y: y + 4, "font-size": 12, style: "fill:var(--ink)" }, text),
    );
    x += room;
  }
  return { items, height: named.length ? y - top + 10 : 0 };
}

let clips = 0;

export function drawChart(chart: Chart): SVGSVGElement {
  const { width } = chart;
  const right = width - margins.right;
  const bottom = chart.height - margins.bottom;
  const x = new Scale(chart.x, margins.left, right);
  const y = new Scale(chart.y, bottom, margins.top);
  const shownLegend = chart.legend ? legend(chart.curves, width, chart.height) : { items: [], height: 0 };
  const height = chart.height + shownLegend.height;
  const clip = `clip${++clips}`;
  const grid: SVGElement[] = [];
  const quiet = "fill:var(--quiet)";
  const xs = x.ticks();
  for (const value of xs) {
    grid.push(s("line", { x1: x.at(value), x2: x.at(value), y1: margins.top, y2: bottom, style: "stroke:var(--line)" }));
    grid.push(s("text", { x: x.at(value), y: bottom + 17, "text-anchor": "middle", "font-size": 11.5, style: quiet },
      tickText(value, xs)));
  }
  const ys = y.ticks();
  for (const value of ys) {
    grid.push(s("line", { x1: margins.left, x2: right, y1: y.at(value), y2: y.at(value), style: "stroke:var(--line)" }));
    grid.push(s("text", { x: margins.left - 7, y: y.at(value) + 4, "text-anchor": "end", "font-size": 11.5, style: quiet },
      tickText(value, ys)));
  }
  const middle = (margins.top + bottom) / 2;
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `${chart.title}: ${chart.y.label} over ${chart.x.label}` },
    s("defs", {}, s("clipPath", { id: clip }, s("rect", { x: margins.left, y: margins.top, width: right - margins.left, height: bottom - margins.top }))),
    ...grid,
    s("rect", { x: margins.left, y: margins.top, width: right - margins.left, height: bottom - margins.top, fill: "none", style: "stroke:var(--quiet)" }),
    s("g", { "clip-path": `url(#${clip})`, class: "curves" }, ...chart.curves.flatMap((curve) => curvePaths(curve, x, y))),
    s("text", { x: margins.left, y: 18, "font-size": 13.5, "font-weight": 600, style: "fill:var(--ink)" }, shorten(chart.title, Math.floor(width / 8))),
    s("text", { x: (margins.left + right) / 2, y: bottom + 37, "text-anchor": "middle", "font-size": 12.5, style: "fill:var(--ink)" }, chart.x.label),
    s("text", { x: 15, y: middle, "text-anchor": "middle", "font-size": 12.5, transform: `rotate(-90 15 ${middle})`, style: "fill:var(--ink)" }, shorten(chart.y.label, 48)),
    ...shownLegend.items,
  );
}
