// Who worked when: the macro steps that were looked at, one lane per worker.
import type { ProfileEvent, RunReport } from "./data";
import { button, h, s, section, table } from "./dom";
import { count, duration, percent, plural, shorten } from "./format";
import { saveButtons, svgText } from "./save";
import { colour } from "./theme";

const laneHeight = 30;
const left = 84;
const width = 1100;
const most = 3000;

interface Step {
  number: number;
  begin: number;
  end: number;
  work: ProfileEvent[];
  /// What ended last: everything waited for it.
  last: ProfileEvent | null;
}

function stepsOf(events: ProfileEvent[]): Step[] {
  const steps = new Map<number, Step>();
  for (const event of events) {
    const [name, , number, begin, length] = event;
    let step = steps.get(number);
    if (!step) steps.set(number, (step = { number, begin: Infinity, end: -Infinity, work: [], last: null }));
    step.begin = Math.min(step.begin, begin);
    step.end = Math.max(step.end, begin + length);
    if (name < 0) continue;
    step.work.push(event);
    if (!step.last || begin + length > step.last[3] + step.last[4]) step.last = event;
  }
  return [...steps.values()].sort((a, b) => a.begin - b.begin);
}

export class ProfileSection {
  readonly element: HTMLElement;
  private readonly steps: Step[];
  private readonly workers: number[];
  private readonly svg = s("svg", { class: "chart timeline", role: "img", "aria-label": "Time line of the workers" });
  private readonly caption = h("span", { class: "quiet", role: "status" });
  private min = 0;
  private max = 1;
  private chosen: Step | null = null;  // the step that the window was fitted to; a neighbour's edge may be in the window, too

  static of(report: RunReport): ProfileSection | null {
    return report.profile?.events?.length ? new ProfileSection(report) : null;
  }

  private constructor(private readonly report: RunReport) {
    const { events } = report.profile!;
    this.steps = stepsOf(events);
    this.workers = [...new Set(events.map((event) => event[1]))].sort((a, b) => a - b);
    const frame = h("div", {
      class: "plot timeline-frame",
      tabindex: 0,
      role: "group",
      "aria-label": "Time line. Arrow keys go from macro step to macro step, + and - zoom, 0 shows all.",
      onkeydown: (event: KeyboardEvent) => this.onKey(event),
    }, this.svg);
    frame.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.addDragging();
    this.element = section(
      "profile",
      "Where the time went",
      "Macro steps that were measured, one lane per worker: boxes are work, empty lanes are waiting. The frame marks what the others waited for.",
      this.figures(),
      h(
        "figure",
        { class: "figure" },
        h(
          "figcaption",
          {},
          this.caption,
          h(
            "span",
            { class: "tools" },
            button("◀", "Macro step before", () => this.go(-1)),
            button("▶", "Next macro step", () => this.go(1)),
            button("+", "Zoom in", () => this.zoom(0.5)),
            button("−", "Zoom out", () => this.zoom(2)),
            button("All", "Show all", () => this.showAll()),
            saveButtons("profile", () => svgText(this.svg)),
          ),
        ),
        frame,
        this.legend(),
      ),
      this.idleTable(),
    );
    // One step tells more than all of them.
    this.showStep(this.steps[Math.floor(this.steps.length / 2)]);
  }

  private figures(): HTMLElement | null {
    const work = this.report.summary?.work;
    if (!work) return null;
    const tile = (label: string, value: string, detail: string) => h("div", { class: "tile" }, h("span", {}, label), h("b", {}, value), h("small", {}, detail));
    const expected = Object.entries(work.expected_speed_up).map(([cores, factor]) => `${factor.toPrecision(2)} × on ${cores.replace("_", " ")}`);
    return h(
      "div",
      { class: "tiles" },
      tile("work per macro step", duration(work.work_seconds_per_macro_step), `master ${duration(work.master_seconds_per_macro_step)}`),
      tile("speed-up", `${work.speed_up.toPrecision(2)} ×`, `perfect balance ${work.speed_up_of_perfect_balance.toPrecision(2)} ×`),
      tile("idle", percent(work.idle_share, 1), `of ${plural(this.report.summary!.workers, "worker")}' time`.replace("worker'", "worker's")),
      tile("critical path", duration(work.critical_path_seconds_per_macro_step), `longest: ${shorten(work.critical_subsystem, 24)}`),
      tile("expected", expected[0] ?? "–", expected[1] ?? ""),
    );
  }

  private legend(): HTMLElement | null {
    const { names } = this.report.profile!;
    if (names.length > 16) return null;
    return h(
      "div",
      { class: "legend" },
      ...names.map((name, i) =>
        h("span", { class: "entry", title: name }, h("i", { class: "patch", style: `--swatch:var(--${colour(i)})` }), h("span", { class: "name" }, shorten(name, 30)))),
    );
  }

  private idleTable(): HTMLElement {
    const whole = this.steps.reduce((sum, step) => sum + step.end - step.begin, 0);
    const rows = this.workers.map((worker) => {
      const own = this.steps.flatMap((step) => step.work.filter((event) => event[1] === worker));
      const busy = own.reduce((sum, event) => sum + event[4], 0);
      const last = this.steps.filter((step) => step.last && step.last[1] === worker).length;
      return [`worker ${worker}`, percent(busy, whole), percent(Math.max(0, whole - busy), whole), percent(last, this.steps.length)];
    });
    const { every, steps } = this.report.profile!;
    return h(
      "div",
      {},
      h("h3", {}, "Workers"),
      table(["worker", "busy", "idle", "last to finish"], rows),
      h("p", { class: "note" }, `${plural(this.steps.length, "macro step")} shown of ${count(steps)} measured${every > 1 ? ` (every ${every}th)` : ""}; profile.json opens in any trace viewer.`),
    );
  }

  private lane(worker: number): number {
    return 26 + this.workers.indexOf(worker) * (laneHeight + 8);
  }

  private get height(): number {
    return this.lane(this.workers[this.workers.length - 1]) + laneHeight + 44;
  }

  private draw(): void {
    const { min, max } = this;
    const scale = (t: number) => left + ((t - min) / (max - min)) * (width - left - 12);
    const visible = this.steps.filter((step) => step.end >= min && step.begin <= max);
    const single = visible.length === 1 ? visible[0] : this.chosen;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const bottom = this.height - 34;
    const parts: SVGElement[] = this.workers.flatMap((worker) => [
      s("rect", { x: left, y: this.lane(worker), width: width - left - 12, height: laneHeight, rx: 3, style: "fill:var(--soft)" }),
      s("text", { x: left - 8, y: this.lane(worker) + 19, "text-anchor": "end", "font-size": 12, style: "fill:var(--quiet)" }, `worker ${worker}`),
    ]);
    const room = (max - min) / 8;
    const power = 10 ** Math.floor(Math.log10(room));
    const every = [1, 2, 5, 10].map((m) => m * power).find((size) => size >= room)!;
    const origin = single ? single.begin : 0;
    for (let k = Math.ceil((min - origin) / every); origin + k * every <= max; ++k) {
      const x = scale(origin + k * every);
      parts.push(s("line", { x1: x, x2: x, y1: 20, y2: bottom, style: "stroke:var(--line)" }), s("text", { x, y: bottom + 16, "text-anchor": "middle", "font-size": 11, style: "fill:var(--quiet)" }, duration(Number((k * every).toPrecision(6)) * 1e-6)));
    }
    let drawn = 0;
    for (const step of visible) {
      if (drawn > most) break;
      const from = scale(step.begin);
      const to = scale(step.end);
      parts.push(s("rect", { class: "step", x: from, y: 18, width: Math.max(0.6, to - from), height: bottom - 14, fill: "none", style: "stroke:var(--line)" }));
      if (to - from > 70) parts.push(s("text", { x: Math.max(from, left) + 4, y: 13, "font-size": 11, style: "fill:var(--quiet)" }, `macro step ${step.number}`));
      for (const event of step.work) {
        ++drawn;
        parts.push(...this.box(event, step, scale));
      }
    }
    this.svg.replaceChildren(s("title", {}, "Who worked when"), ...parts);
    this.caption.textContent = single ? `macro step ${single.number}: ${duration((single.end - single.begin) * 1e-6)}` : `${plural(visible.length, "measured macro step")}, ${duration((max - min) * 1e-6)}`;
  }

  private box(event: ProfileEvent, step: Step, scale: (t: number) => number): SVGElement[] {
    const [name, worker, , begin, length] = event;
    const x = Math.max(scale(begin), left);
    const size = Math.min(scale(begin + length), width - 12) - x;
    if (size <= 0) return [];
    const label = this.report.profile!.names[name];
    const critical = step.last === event && size > 4;
    const out: SVGElement[] = [
      s("rect", { class: "work", x, y: this.lane(worker) + 2, width: Math.max(0.7, size), height: laneHeight - 4, rx: size > 6 ? 3 : 0, style: `fill:var(--${colour(name)});stroke:var(--${critical ? "ink" : "card"})`, "stroke-width": critical ? 2 : size > 4 ? 0.8 : 0 },
        s("title", {}, `${label}, macro step ${step.number}\n${duration(length * 1e-6)}${critical ? "\nlast to finish: the others waited for it" : ""}`)),
    ];
    if (size > 34) out.push(s("text", { x: x + 6, y: this.lane(worker) + 20, "font-size": 11.5, "font-weight": 600, style: "fill:var(--card);pointer-events:none" }, shorten(label, Math.max(3, Math.floor(size / 7.5)))));
    return out;
  }

  private show(min: number, max: number, chosen: Step | null = null): void {
    this.chosen = chosen;
    const begin = this.steps[0].begin;
    const end = this.steps[this.steps.length - 1].end;
    const length = Math.min(Math.max(max - min, 0.05), Math.max(end - begin, 0.1));
    this.min = Math.min(Math.max(min, begin), end - length);
    this.max = this.min + length;
    this.draw();
  }
  private showAll(): void {
    this.show(this.steps[0].begin, this.steps[this.steps.length - 1].end);
  }
  private showStep(step: Step): void {
    const room = 0.03 * (step.end - step.begin) + 1e-3;
    this.show(step.begin - room, step.end + room, step);
  }
  private go(direction: number): void {
    const middle = (this.min + this.max) / 2;
    const next = this.chosen
      ? this.steps[this.steps.indexOf(this.chosen) + direction]
      : direction > 0 ? this.steps.find((step) => step.begin > middle) : [...this.steps].reverse().find((step) => step.end < middle);
    if (next) this.showStep(next);
  }
  private zoom(factor: number, around = (this.min + this.max) / 2): void {
    this.show(around - (around - this.min) * factor, around + (this.max - around) * factor);
  }

  private timeAt(clientX: number): number {
    const frame = this.svg.getBoundingClientRect();
    const place = ((clientX - frame.left) / frame.width) * width;
    return this.min + ((place - left) / (width - left - 12)) * (this.max - this.min);
  }
  private onWheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.3 : 0.75, this.timeAt(event.clientX));
  }
  private addDragging(): void {
    this.svg.addEventListener("pointerdown", (event) => {
      const from = this.timeAt(event.clientX);
      this.svg.setPointerCapture(event.pointerId);
      const move = (e: PointerEvent) => {
        const shift = from - this.timeAt(e.clientX);
        this.show(this.min + shift, this.max + shift);
      };
      this.svg.addEventListener("pointermove", move);
      this.svg.addEventListener("pointerup", () => this.svg.removeEventListener("pointermove", move), { once: true });
    });
    this.svg.addEventListener("dblclick", (event) => {
      const at = this.timeAt(event.clientX);
      const step = this.steps.find((x) => x.begin <= at && at <= x.end);
      if (step) this.showStep(step);
      else this.showAll();
    });
  }
  private onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowLeft") this.go(-1);
    else if (event.key === "ArrowRight") this.go(1);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0" || event.key === "Home") this.showAll();
    else return;
    event.preventDefault();
  }
}
