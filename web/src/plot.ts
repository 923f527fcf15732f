// Curves over simulated time: uPlot with our colours, a legend that shows the values at the cursor, keys, and files.
import uPlot from "uplot";
import { axisOver, drawChart } from "./chart";
import { align, type Numbers } from "./data";
import { button, h } from "./dom";
import { number, shorten } from "./format";
import { saveButtons, svgText } from "./save";
import { onTheme, shown } from "./theme";
import type { View } from "./view";

export interface Trace {
  label: string;
  unit: string;
  x: Float64Array;
  y: Numbers;
  colour: string;
  dash?: number[];
  points?: boolean;
  steps?: boolean;
  lines?: boolean;
}
export interface PlotOptions {
  title: string;
  label: string;
  traces: Trace[];
  height?: number;
  log?: boolean;
}

const left = 78;

/// Of a logarithmic axis: whole powers of ten only, where there are at least two.
function decades(_: uPlot, splits: number[]): (number | null)[] {
  const whole = (value: number) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
  const powers = splits.filter(whole);
  if (powers.length < 2) return splits;
  const every = Math.ceil(powers.length / 6);
  return splits.map((value) => (whole(value) && Math.round(Math.log10(value)) % every === 0 ? value : null));
}

export class TimePlot {
  readonly element: HTMLElement;
  readonly plot: uPlot;
  private readonly values: HTMLElement[] = [];
  private readonly time = h("span", { class: "at" });
  private readonly frame: HTMLElement;
  private readonly data: uPlot.AlignedData;
  private readonly leave: (() => void)[];
  private pointed = false;

  constructor(
    private readonly view: View,
    private readonly options: PlotOptions,
  ) {
    this.frame = h("div", {
      class: "plot",
      tabindex: 0,
      role: "img",
      "aria-label": `${options.title}: ${options.traces.map((trace) => trace.label).join(", ")}. Arrow keys move the cursor, + and - zoom, shift and arrow keys pan, 0 shows all.`,
      onkeydown: (event: KeyboardEvent) => this.onKey(event),
    });
    this.element = h("figure", { class: "figure" }, this.caption(), this.frame, this.legend());
    this.data = align(options.traces) as uPlot.AlignedData;
    this.plot = new uPlot(this.settings(), this.data, this.frame);
    this.frame.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.plot.over.addEventListener("dblclick", () => view.reset());
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(this.frame);
    this.leave = [
      view.onRange(() => this.follow()),
      view.onCursor(() => this.showCursor()),
      onTheme(() => this.plot.redraw(false, true)),
      () => resized.disconnect(),
    ];
    this.follow();
    this.showCursor();
  }

  private caption(): HTMLElement {
    const { view } = this;
    return h(
      "figcaption",
      {},
      h("span", { class: "caption", title: this.options.title }, shorten(this.options.title, 90)),
      h(
        "span",
        { class: "tools" },
        button("+", "Zoom in", () => view.zoom(0.5)),
        button("−", "Zoom out", () => view.zoom(2)),
        button("All", "Show all", () => view.reset()),
        saveButtons(this.options.title, () => this.svg()),
      ),
    );
  }

  private legend(): HTMLElement {
    return h(
      "div",
      { class: "legend" },
      this.time,
      ...this.options.traces.map((trace) => {
        const value = h("b", {}, "");
        this.values.push(value);
        return h(
          "span",
          { class: "entry", title: trace.label },
          h("i", { class: trace.dash ? "swatch dashed" : "swatch", style: `--swatch:var(--${trace.colour})` }),
          h("span", { class: "name" }, shorten(trace.label)),
          value,
          h("small", {}, trace.unit),
        );
      }),
    );
  }

  private settings(): uPlot.Options {
    const { options } = this;
    const ink = () => shown("quiet");
    const axis = (extra: uPlot.Axis): uPlot.Axis => ({
      stroke: ink,
      font: "11.5px system-ui, sans-serif",
      labelFont: "12.5px system-ui, sans-serif",
      grid: { stroke: () => shown("line"), width: 1 },
      ticks: { stroke: () => shown("line"), width: 1, size: 4 },
      values: (_, splits) => splits.map((value) => (value === null ? "" : number(Number(value.toPrecision(10)), 6))),
      ...extra,
    });
    return {
      width: Math.max(300, this.frame.clientWidth || 900),
      height: options.height ?? 240,
      legend: { show: false },
      padding: [10, 14, 0, 0],
      scales: { x: { time: false }, y: options.log ? { distr: 3 } : {} },
      axes: [
        axis({ label: "time [s]", labelSize: 20, size: 34, space: 70 }),
        axis({
          label: shorten(options.label, 40), labelSize: 20, size: left - 20, space: 34,
          ...(options.log && { filter: decades, grid: { stroke: () => shown("line"), width: 1, filter: decades }, ticks: { show: false } }),
        }),
      ],
      series: [
        {},
        ...options.traces.map((trace): uPlot.Series => ({
          label: trace.label,
          stroke: () => shown(trace.colour),
          width: 1.7,
          dash: trace.dash,
          paths: trace.lines === false ? () => null : trace.steps ? uPlot.paths.stepped!({ align: -1 }) : undefined,
          points: trace.points
            ? { show: true, size: 7, stroke: () => shown(trace.colour), fill: () => shown(trace.colour), filter: null as never }
            : { show: false },
        })),
      ],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        bind: {
          dblclick: () => null,
          mousedown: (_, __, handler) => (event) => (event.shiftKey || event.button === 1 ? this.pan(event) : handler(event)),
        },
      },
      hooks: {
        setSelect: [
          (u) => {
            if (u.select.width < 3) return;
            this.view.show(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          },
        ],
        setCursor: [
          (u) => {
            if (u.cursor.left === undefined || u.cursor.left < 0 || u.cursor.idx === null || u.cursor.idx === undefined) return;
            this.pointed = true;
            this.view.lookAt(u.data[0][u.cursor.idx]);
            this.pointed = false;
          },
        ],
      },
    };
  }

  private pan(event: MouseEvent): null {
    const start = event.clientX;
    const { min, max } = this.view;
    const perPixel = (max - min) / this.plot.over.clientWidth;
    const move = (e: MouseEvent) => this.view.show(min - (e.clientX - start) * perPixel, max - (e.clientX - start) * perPixel);
    const stop = () => {
      removeEventListener("mousemove", move);
      removeEventListener("mouseup", stop);
    };
    addEventListener("mousemove", move);
    addEventListener("mouseup", stop);
    return null;
  }

  /// A plain wheel scrolls the page.
  private onWheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const place = event.clientX - this.plot.over.getBoundingClientRect().left;
    this.view.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.plot.posToVal(place, "x"));
  }

  private onKey(event: KeyboardEvent): void {
    const { view } = this;
    const step = event.key === "ArrowLeft" ? -1 : 1;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (event.shiftKey) view.pan(0.2 * step);
      else this.moveCursor(step);
    } else if (event.key === "+" || event.key === "=") view.zoom(0.5);
    else if (event.key === "-") view.zoom(2);
    else if (event.key === "0" || event.key === "Home") view.reset();
    else if (event.key === "Escape") view.lookAt(null);
    else return;
    event.preventDefault();
  }

  /// To the next point that can be told from this one on the screen.
  private moveCursor(direction: number): void {
    const x = this.data[0];
    const { view } = this;
    const least = (view.max - view.min) / Math.max(1, this.plot.over.clientWidth);
    const now = view.cursor !== null && view.cursor >= view.min && view.cursor <= view.max ? view.cursor : direction > 0 ? view.min - least : view.max + least;
    let k = direction > 0 ? x.findIndex((t) => t >= now + least * 0.999) : -1;
    if (direction < 0) for (let i = x.length - 1; i >= 0 && k < 0; --i) if (x[i] <= now - least * 0.999) k = i;
    if (k >= 0) view.lookAt(x[k]);
  }

  private follow(): void {
    this.plot.setScale("x", { min: this.view.min, max: this.view.max });
    this.showCursor();
  }

  private showCursor(): void {
    const t = this.view.cursor;
    if (t === null || !this.pointed) {
      const place = t === null ? -10 : this.plot.valToPos(t, "x");
      this.plot.setCursor({ left: place, top: t === null ? -10 : 1 }, false);
    }
    const at = t === null ? null : this.nearest(t);
    this.time.textContent = at === null ? "move over the curves to read values" : `t = ${number(this.data[0][at], 8)} s`;
    this.values.forEach((element, i) => {
      const value = at === null ? null : this.data[i + 1][at];
      element.textContent = at === null ? "" : number(value, 7);
    });
  }

  private nearest(t: number): number | null {
    const x = this.data[0];
    if (x.length === 0) return null;
    let low = 0;
    let high = x.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (x[middle] <= t) low = middle;
      else high = middle;
    }
    return Math.abs(x[low] - t) <= Math.abs(x[high] - t) ? low : high;
  }

  private resize(): void {
    const width = this.frame.clientWidth;
    if (width > 0 && Math.abs(width - this.plot.width) > 1)
      this.plot.setSize({ width, height: this.options.height ?? 240 });
  }

  /// What is shown now.
  svg(): string {
    const { view, options } = this;
    const x = this.data[0];
    let first = 0;
    while (first + 1 < x.length && x[first + 1] < view.min) ++first;
    let last = x.length;
    while (last > 1 && x[last - 2] > view.max) --last;
    const times = Array.prototype.slice.call(x, first, last) as number[];
    const lists = this.data.slice(1).map((list) => Array.prototype.slice.call(list, first, last) as (number | null)[]);
    const visible = lists.map((list) => list.filter((_, i) => times[i] >= view.min && times[i] <= view.max));
    const chart = drawChart({
      title: options.title,
      x: { label: "time [s]", log: false, min: view.min, max: view.max },
      y: axisOver(options.label, options.log ?? false, visible),
      curves: options.traces.map((trace, i) => ({ ...trace, x: times, y: lists[i], line: trace.lines, marker: trace.points ? "circle" : "none" })),
      width: 900,
      height: 360,
      legend: true,
    });
    return svgText(chart);
  }

  destroy(): void {
    this.leave.forEach((step) => step());
    this.plot.destroy();
    this.element.remove();
  }
}
