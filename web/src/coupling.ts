// Macro steps, and how far every connection and every power bond can be trusted over time.
import { doubles, type RunReport, singles } from "./data";
import { h, section } from "./dom";
import { duration, number, plural, shorten } from "./format";
import { TimePlot, type Trace } from "./plot";
import { colour } from "./theme";
import type { View } from "./view";

const mostAtOnce = 6;

type Quantity = "jump" | "residual" | "energy_error";
const quantities: { key: Quantity; title: string; label: (unit: string) => string; unit: (unit: string) => string; log: boolean }[] = [
  { key: "jump", title: "Jump: what the extrapolation missed at macro points", label: (u) => `|jump| [${u}]`, unit: (u) => u, log: true },
  { key: "residual", title: "Residual: energy that a single macro step added or lost", label: () => "|residual| [J]", unit: () => "J", log: true },
  { key: "energy_error", title: "Energy error since the start", label: () => "energy error [J]", unit: () => "J", log: false },
];

/// A connection, or a bond: two signals with one energy and no jump of its own.
type Followed = { name: string; label: string; jump?: string; residual: string; energy_error: string };

/// On a logarithmic axis nothing stands at zero.
function positive(values: Float32Array): Float32Array {
  return values.map((value) => (value > 0 ? value : NaN));
}

export class CouplingSection {
  readonly element: HTMLElement;
  private readonly steps = h("div", { class: "plots" });
  private readonly quality = h("div", { class: "plots" });
  private readonly chosen: Set<string>;
  private plots: TimePlot[] = [];
  private readonly time: Float64Array;
  private readonly units: Map<string, string>;
  private readonly followed: Followed[];

  static of(report: RunReport, view: View): CouplingSection | null {
    return report.coupling && report.coupling.time ? new CouplingSection(report, view) : null;
  }

  private constructor(
    private readonly report: RunReport,
    private readonly view: View,
  ) {
    const coupling = report.coupling!;
    this.time = doubles(coupling.time);
    this.units = new Map((report.summary?.connections ?? []).map((c) => [c.name, c.unit]));
    this.followed = [
      ...coupling.connections.map((c) => ({ ...c, label: c.name })),
      ...(coupling.bonds ?? []).map((b) => ({ ...b, label: `bond ${b.name}` })),
    ];
    this.chosen = new Set(this.followed.slice(0, 4).map((c) => c.label));
    const choice = this.followed.length > 1 ? this.chooser() : null;
    this.element = section(
      "coupling",
      "Coupling quality",
      `Every point stands for ${plural(coupling.macro_steps_per_point, "macro step")} and shows the worst of them.`,
      this.steps,
      choice,
      this.quality,
    );
  }

  start(): void {
    this.drawSteps();
    this.drawQuality();
  }

  private chooser(): HTMLElement {
    return h(
      "div",
      { class: "choices", role: "group", "aria-label": "Connections and bonds" },
      ...this.followed.map(({ label }) => {
        const box = h("input", {
          type: "checkbox",
          checked: this.chosen.has(label),
          onchange: () => {
            if (!box.checked) this.chosen.delete(label);
            else if (this.chosen.size < mostAtOnce) this.chosen.add(label);
            else box.checked = false;
            this.drawQuality();
          },
        });
        return h("label", { title: label }, box, shorten(label, 30));
      }),
    );
  }

  private drawSteps(): void {
    const coupling = this.report.coupling!;
    const low = singles(coupling.H_min);
    const high = singles(coupling.H_max);
    const rejected = singles(coupling.rejected);
    const total = rejected.reduce((sum, k) => sum + k, 0);
    const least = low.reduce((a, b) => Math.min(a, b), Infinity);
    const most = high.reduce((a, b) => Math.max(a, b), 0);
    if (total === 0 && !(most > 1.0001 * least && this.time.length > 2 && this.changes(low, high))) {
      this.steps.append(h("p", { class: "note" }, `The macro step is constant, H = ${duration(most)}; no step was rejected.`));
      return;
    }
    const traces: Trace[] = [{ label: "largest H", unit: "s", x: this.time, y: high, colour: colour(0), steps: true }];
    if (coupling.macro_steps_per_point > 1)
      traces.push({ label: "smallest H", unit: "s", x: this.time, y: low, colour: colour(5), dash: [4, 3], steps: true });
    if (total > 0) {
      const at = singles(coupling.H_rejected).map((H, i) => (rejected[i] > 0 ? H : NaN));
      traces.push({ label: `rejected (${number(total)})`, unit: "s", x: this.time, y: at, colour: colour(1), points: true, lines: false });
    }
    const plot = new TimePlot(this.view, { title: "Macro step", label: "H [s]", traces, height: 200, log: most > 30 * least });
    this.steps.append(plot.element);
    const error = positive(singles(coupling.error));
    if (!error.some((value) => value > 0)) return;
    const trace: Trace = { label: "accepted steps", unit: "", x: this.time, y: error, colour: colour(0) };
    const { rtol, atol } = this.report.summary?.step_control ?? {};
    this.steps.append(new TimePlot(this.view, {
      title: `Error of a macro step, as a multiple of the tolerance (rtol ${number(rtol)}, atol ${number(atol)})`,
      label: "error / tolerance", traces: [trace], height: 160, log: true,
    }).element);
  }

  /// A last step that is shorter than the others is no change.
  private changes(low: Float32Array, high: Float32Array): boolean {
    const n = low.length - 1;
    const first = high[0];
    for (let i = 0; i < n; ++i) if (Math.abs(low[i] - first) > 1e-4 * first || Math.abs(high[i] - first) > 1e-4 * first) return true;
    return false;
  }

  private drawQuality(): void {
    this.plots.forEach((plot) => plot.destroy());
    const all = this.followed;
    const shown = all.filter((c) => this.chosen.has(c.label));
    this.plots = [];
    for (const q of quantities) {
      const groups = new Map<string, Trace[]>();
      for (const c of shown) {
        const packed = c[q.key];
        if (packed === undefined) continue;
        const unit = q.unit(this.units.get(c.name) ?? "");
        const values = singles(packed);
        const trace = { label: c.label, unit, x: this.time, y: q.log ? positive(values) : values, colour: colour(all.indexOf(c)) };
        if (trace.y.some((value) => Number.isFinite(value))) groups.set(unit, [...(groups.get(unit) ?? []), trace]);
      }
      for (const [unit, traces] of groups)
        this.plots.push(new TimePlot(this.view, { title: q.title, label: q.label(unit), traces, height: 170, log: q.log }));
    }
    this.quality.replaceChildren(...this.plots.map((plot) => plot.element));
  }
}
