// Recorded variables: choosing, overlaying, and, with a second run, the error below.
import { type RunReport, Table } from "./data";

import { h, section } from "./dom";
import { count, plural, shorten } from "./format";
import { TimePlot, type Trace } from "./plot";
import { colour } from "./theme";
import type { View } from "./view";

const mostListed = 200;
const mostChosen = 24;

/// Variables that say most at first sight: the first one's namesakes in other subsystems, and coupling variables.
function firstChoice(names: string[]): string[] {
  if (names.length === 0) return [];
  const last = (name: string) => name.slice(name.indexOf(".") + 1);
  const alike = names.filter((name) => last(name) === last(names[0])).slice(0, 6);
  const coupling = names.filter((name) => name.endsWith(".u")).slice(0, 3);
  // Recorded only where they were asked for.
  const asked = names.filter((name) => name.endsWith(".micro-steps")).slice(0, 6);
  return [...new Set([...alike, ...coupling, ...asked])].slice(0, mostChosen);
}

export class SeriesSection {
  readonly element: HTMLElement;
  private readonly chosen: Set<string>;
  private readonly colours = new Map<string, string>();
  private readonly area = h("div", { class: "plots" });
  private readonly list = h("div", { class: "names", role: "group", "aria-label": "Variables" });
  private plots: TimePlot[] = [];
  private readonly other: Table | null;
  private readonly error: Table | null;

  constructor(
    private readonly report: RunReport,
    private readonly table: Table,
    private readonly view: View,
  ) {
    this.other = report.with ? new Table(report.with.series) : null;
    this.error = report.with ? new Table(report.with.error_series) : null;
    this.chosen = new Set(firstChoice(this.table.names));
    const search = h("input", {
      type: "search",
      placeholder: `Find in ${plural(this.table.names.length, "variable")}`,
      "aria-label": "Find variables",
      oninput: () => this.fillList(search.value),
    });
    this.element = section(
      "series",
      "Time series",
      "Drag to zoom, shift and drag to pan, ctrl and wheel to zoom, double click for all. Variables of one unit share a plot.",
      this.notes(),
      h("div", { class: "series" }, h("div", { class: "chooser" }, search, this.list), this.area),
    );
    this.fillList("");
  }

  /// After the section stands in the page: plots need its width.
  start(): void {
    this.draw();
  }

  private notes(): HTMLElement | null {
    const { stride, rows, left_out, columns } = this.report.series;
    const parts: string[] = [];
    if (stride > 1)
      parts.push(
        `${count(rows * columns.length)} recorded values: of every ${stride} rows each curve shows its smallest and largest value; results.csv has all.`,
      );
    if (left_out > 0) parts.push(`${plural(left_out, "further column")} of results.csv are not in this page.`);
    return parts.length ? h("p", { class: "note" }, parts.join(" ")) : null;
  }

  private fillList(search: string): void {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.table.names.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
    const shown = [...found.filter((n) => this.chosen.has(n)), ...found.filter((n) => !this.chosen.has(n))].slice(0, mostListed);
    const order = new Map(this.table.names.map((name, i) => [name, i]));
    shown.sort((a, b) => order.get(a)! - order.get(b)!);
    this.list.replaceChildren(
      ...shown.map((name) => {
        const box = h("input", {
          type: "checkbox",
          checked: this.chosen.has(name),
          onchange: () => this.choose(name, box),
        });
        const unit = this.table.unit(name);
        return h("label", { title: unit ? `${name} [${unit}]` : name }, box, h("span", {}, shorten(name, 44)), h("small", {}, unit));
      }),
      ...(found.length > shown.length ? [h("p", { class: "note" }, `${count(found.length - shown.length)} more: type to find them.`)] : []),
      ...(found.length === 0 ? [h("p", { class: "note" }, "No variable has such a name.")] : []),
    );
  }

  private choose(name: string, box: HTMLInputElement): void {
    if (!box.checked) this.chosen.delete(name);
    else if (this.chosen.size < mostChosen) this.chosen.add(name);
    else box.checked = false;
    this.draw();
  }

  /// A variable keeps its colour while it is shown.
  private colourOf(name: string): string {
    const used = new Set([...this.chosen].map((n) => this.colours.get(n)));
    if (!this.colours.has(name)) {
      let k = 0;
      while (k < 8 && used.has(colour(k))) ++k;
      this.colours.set(name, colour(k < 8 ? k : this.chosen.size));
    }
    return this.colours.get(name)!;
  }

  private draw(): void {
    for (const name of this.colours.keys()) if (!this.chosen.has(name)) this.colours.delete(name);
    this.plots.forEach((plot) => plot.destroy());
    this.plots = [];
    const units = new Map<string, string[]>();
    for (const name of this.table.names)
      if (this.chosen.has(name)) units.set(this.table.unit(name), [...(units.get(this.table.unit(name)) ?? []), name]);
    for (const [unit, names] of units) this.drawUnit(unit, names);
    if (units.size === 0) this.area.replaceChildren(h("p", { class: "note" }, "Choose variables on the left."));
    else this.area.replaceChildren(...this.plots.map((plot) => plot.element));
  }

  private traces(table: Table, names: string[], suffix: string, dash?: number[]): Trace[] {
    return names.flatMap((name) => {
      const curve = table.curve(name);
      return curve && curve.x.length
        ? [{ label: name + suffix, unit: this.table.unit(name), x: curve.x, y: curve.y, colour: this.colourOf(name), dash }]
        : [];
    });
  }

  private drawUnit(unit: string, names: string[]): void {
    const label = unit ? `[${unit}]` : "value";
    const title = names.length > 3 ? `${names.slice(0, 3).join(", ")} …` : names.join(", ");
    const { with: second } = this.report;
    const own = this.traces(this.table, names, "");
    const others = this.other ? this.traces(this.other, names, ` (${second!.label})`, [6, 4]) : [];
    if (own.length + others.length === 0) return;
    this.add({ title, label, traces: [...own, ...others] });
    const errors = this.error ? this.traces(this.error, names, "") : [];
    if (errors.length)
      this.add({ title: `Error against ${second!.label}: ${title}`, label: `error ${label}`, traces: errors, height: 180 });
  }

  private add(options: ConstructorParameters<typeof TimePlot>[1]): void {
    this.plots.push(new TimePlot(this.view, options));
  }
}
