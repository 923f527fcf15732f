// Curves of analyses: any direction, linear or logarithmic axes; a frame zooms, the nearest point is told.
import { axisOver, type ChartAxis, type ChartCurve, drawChart, margins, Scale } from "./chart";
import { button, h, s } from "./dom";
import { number, shorten } from "./format";
import { saveButtons, svgText } from "./save";

export interface Reference {
  x: Float64Array;
  y: Float64Array;
  label: string;
}
export interface Panel {
  title: string;
  x: { label: string; log: boolean; low?: number; high?: number };
  y: { label: string; log: boolean; low?: number; high?: number };
  curves: ChartCurve[];
  references: Reference[];
  equal: boolean;
  width: number;
  height: number;
}

export class XyPlot {
  readonly element: HTMLElement;
  private svg: SVGSVGElement;
  private readonly frame = h("div", { class: "plot xy", tabindex: 0, role: "group" });
  private readonly reading = h("div", { class: "legend reading", role: "status" }, "\u00a0");
  private readonly whole: [ChartAxis, ChartAxis];
  private x: ChartAxis;
  private y: ChartAxis;

  constructor(private readonly panel: Panel) {
    this.whole = this.axes();
    [this.x, this.y] = this.whole;
    this.svg = this.draw();
    this.frame.setAttribute("aria-label", `${panel.title}. + and - zoom, arrow keys pan, 0 shows all.`);
    this.frame.addEventListener("keydown", (event) => this.onKey(event));
    this.frame.addEventListener("pointermove", (event) => this.read(event));
    this.frame.addEventListener("pointerdown", (event) => this.zoomByFrame(event));
    this.frame.addEventListener("dblclick", () => this.show(...this.whole));
    this.element = h(
      "figure",
      { class: "figure" },
      h("figcaption", {}, h("span", {}), h("span", { class: "tools" },
        button("+", "Zoom in", () => this.zoom(0.6)), button("−", "Zoom out", () => this.zoom(1 / 0.6)),
        button("All", "Show all", () => this.show(...this.whole)), saveButtons(panel.title, () => svgText(this.svg)))),
      this.frame,
      this.reading,
    );
    this.frame.append(this.svg);
  }

  private axes(): [ChartAxis, ChartAxis] {
    const { panel } = this;
    const x = axisOver(panel.x.label, panel.x.log, panel.curves.map((c) => c.x as ArrayLike<number | null>));
    const y = axisOver(panel.y.label, panel.y.log, panel.curves.map((c) => c.y));
    const given = (axis: ChartAxis, ends: { low?: number; high?: number }) => ({ ...axis, min: ends.low ?? axis.min, max: ends.high ?? axis.max });
    const out: [ChartAxis, ChartAxis] = [given(x, panel.x), given(y, panel.y)];
    if (panel.equal) {
      const across = (out[0].max - out[0].min) / (panel.width - margins.left - margins.right);
      const up = (out[1].max - out[1].min) / (panel.height - margins.top - margins.bottom);
      const widen = (axis: ChartAxis, factor: number) => {
        const middle = (axis.min + axis.max) / 2;
        const half = ((axis.max - axis.min) / 2) * factor;
        axis.min = middle - half;
        axis.max = middle + half;
      };
      if (across < up) widen(out[0], up / across);
      else widen(out[1], across / up);
    }
    return out;
  }

  private draw(): SVGSVGElement {
    const { panel, x, y } = this;
    const bounded = (value: number, axis: ChartAxis) => (value === -Infinity ? axis.min : value === Infinity ? axis.max : value);
    const references: ChartCurve[] = panel.references.map((r) => ({
      label: "", x: r.x.map((v) => bounded(v, x)), y: r.y.map((v) => bounded(v, y)), colour: "quiet", thin: true, dash: [2, 3],
    }));
    const svg = drawChart({ title: panel.title, x, y, curves: [...references, ...panel.curves], width: panel.width, height: panel.height, legend: true });
    const sx = new Scale(x, margins.left, panel.width - margins.right);
    const sy = new Scale(y, panel.height - margins.bottom, margins.top);
    panel.references.forEach((r, i) => {
      if (!r.label) return;
      const line = references[i];
      for (let k = line.x.length - 1; k >= 0; --k) {
        const [px, py] = [sx.at(line.x[k]), sy.at(line.y[k] as number)];
        if (px < margins.left + 30 || px > panel.width - margins.right + 1 || py < margins.top + 8 || py > panel.height - margins.bottom) continue;
        svg.append(s("text", { x: px - 4, y: py - 4, "text-anchor": "end", "font-size": 10.5, style: "fill:var(--quiet)" }, r.label));
        break;
      }
    });
    return svg;
  }

  private show(x: ChartAxis, y: ChartAxis): void {
    this.x = x;
    this.y = y;
    const next = this.draw();
    this.svg.replaceWith(next);
    this.svg = next;
  }
  /// On a logarithmic axis lengths are ratios.
  private changed(axis: ChartAxis, factor: number, shift = 0): ChartAxis {
    const to = axis.log ? Math.log10 : (v: number) => v;
    const back = axis.log ? (v: number) => 10 ** v : (v: number) => v;
    const middle = (to(axis.min) + to(axis.max)) / 2 + shift * (to(axis.max) - to(axis.min));
    const half = ((to(axis.max) - to(axis.min)) / 2) * factor;
    return { ...axis, min: back(middle - half), max: back(middle + half) };
  }
  private zoom(factor: number): void {
    this.show(this.changed(this.x, factor), this.changed(this.y, factor));
  }
  private onKey(event: KeyboardEvent): void {
    const shifts: Record<string, [number, number]> = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
    const shift = shifts[event.key];
    if (shift) this.show(this.changed(this.x, 1, shift[0]), this.changed(this.y, 1, shift[1]));
    else if (event.key === "+" || event.key === "=") this.zoom(0.6);
    else if (event.key === "-") this.zoom(1 / 0.6);
    else if (event.key === "0") this.show(...this.whole);
    else return;
    event.preventDefault();
  }

  private place(event: PointerEvent): [number, number] {
    const frame = this.svg.getBoundingClientRect();
    const scale = this.panel.width / frame.width;
    return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
  }
  private scales(): [Scale, Scale] {
    return [new Scale(this.x, margins.left, this.panel.width - margins.right), new Scale(this.y, this.panel.height - margins.bottom, margins.top)];
  }

  private read(event: PointerEvent): void {
    const [px, py] = this.place(event);
    const [sx, sy] = this.scales();
    let best = 30 ** 2;
    let text = "\u00a0";
    for (const curve of this.panel.curves)
      for (let i = 0; i < curve.x.length; ++i) {
        const value = curve.y[i];
        if (value === null || !Number.isFinite(value)) continue;
        const distance = (sx.at(curve.x[i]) - px) ** 2 + (sy.at(value) - py) ** 2;
        if (!(distance < best)) continue;
        best = distance;
        text = `${curve.label ? `${shorten(curve.label)}: ` : ""}${number(curve.x[i])}, ${number(value)}`;
      }
    this.reading.textContent = text;
  }

  private zoomByFrame(event: PointerEvent): void {
    const from = this.place(event);
    const rect = s("rect", { style: "fill:var(--accent);fill-opacity:0.15;stroke:var(--accent)" });
    this.svg.append(rect);
    const bounds = (e: PointerEvent) => {
      const to = this.place(e);
      return [Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.max(from[0], to[0]), Math.max(from[1], to[1])];
    };
    const move = (e: PointerEvent) => {
      const [x0, y0, x1, y1] = bounds(e);
      Object.entries({ x: x0, y: y0, width: x1 - x0, height: y1 - y0 }).forEach(([name, value]) => rect.setAttribute(name, String(value)));
    };
    const stop = (e: PointerEvent) => {
      removeEventListener("pointermove", move);
      rect.remove();
      const [x0, y0, x1, y1] = bounds(e);
      if (x1 - x0 < 6 || y1 - y0 < 6) return;
      const [sx, sy] = this.scales();
      this.show({ ...this.x, min: sx.valueAt(x0), max: sx.valueAt(x1) }, { ...this.y, min: sy.valueAt(y1), max: sy.valueAt(y0) });
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop, { once: true });
  }
}
