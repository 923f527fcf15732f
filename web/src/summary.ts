import type { RunReport, Table } from "./data";
import { h, section, table } from "./dom";
import { count, duration, number, percent, plural, shorten } from "./format";
import { findings, type Finding } from "./verdict";

const signs: Record<Finding["level"], [string, string]> = {
  bad: ["✕", "Problem"],
  warn: ["!", "Warning"],
  note: ["i", "Note"],
  good: ["✓", "Good"],
};
const most = 30;

function tile(label: string, value: string, detail = ""): HTMLElement {
  return h("div", { class: "tile" }, h("span", {}, label), h("b", {}, value), h("small", {}, detail));
}

function stepText(report: RunReport): string {
  const { time, step_control: control } = report.summary!;
  if (!control) return `H = ${duration(time.step)}`;
  return `H from ${duration(control.smallest)} to ${duration(control.largest)}, ${count(control.rejected)} rejected`;
}

function tiles(report: RunReport): HTMLElement | null {
  const { summary } = report;
  if (!summary) return null;
  const { time } = summary;
  const span = time.reached - time.start;
  const reference = summary.method === "monolithic";
  return h(
    "div",
    { class: "tiles" },
    tile("simulated", duration(span), time.reached < time.end ? `of ${duration(time.end - time.start)}` : `to t = ${number(time.reached)} s`),
    tile("computed in", duration(summary.wall_seconds), summary.wall_seconds > 0 ? `${number(span / summary.wall_seconds, 3)} × real time` : ""),
    reference
      ? tile("solver", summary.subsystems[0]?.solver ?? "–", plural(summary.subsystems[0]?.micro_steps ?? 0, "step"))
      : tile("macro steps", count(summary.macro_steps), `${stepText(report)}, method ${summary.method}`),
    reference
      ? null
      : tile("transport", summary.transport, `${plural(summary.workers, "worker")}, ${summary.parallel_macro_steps > 0 ? `${percent(summary.parallel_macro_steps, summary.macro_steps)} of the steps in parallel` : "serial"}`),
    tile("recorded", plural(report.series.rows, "row"), plural(report.series.columns.length + report.series.left_out, "variable")),
  );
}

const name = (text: string) => h("span", { title: text }, shorten(text, 40));
const rest = (length: number) => (length > most ? h("p", { class: "note" }, `${count(length - most)} more in summary.json.`) : null);

function subsystemTable(report: RunReport): HTMLElement | null {
  const list = report.summary?.subsystems ?? [];
  if (!list.length) return null;
  return h(
    "div",
    {},
    h("h3", {}, "Subsystems"),
    table(
      ["subsystem", "type", "solver", "micro steps", "rejected", "evaluations", "events", "per macro step"],
      list.slice(0, most).map((x) => [
        name(x.name), name(x.type), x.solver || "–", count(x.micro_steps), count(x.rejected), count(x.evaluations),
        count(x.events), duration(x.seconds_per_macro_step),
      ]),
      3,
    ),
    rest(list.length),
  );
}

function connectionTable(report: RunReport): HTMLElement | null {
  const list = report.summary?.connections ?? [];
  if (!list.length) return null;
  return h(
    "div",
    {},
    h("h3", {}, "Connections"),
    table(
      ["connection", "law", "extrapolation", "unit", "smallest u", "largest u", "largest jump", "energy error"],
      list.slice(0, most).map((x) => [
        name(x.name), x.law, x.extrapolation, x.unit, number(x.u_min, 5), number(x.u_max, 5),
        percent(x.jump_max, x.u_max - x.u_min), percent(x.energy_error, x.energy_peak),
      ]),
      4,
    ),
    rest(list.length),
    h("p", { class: "note" }, "largest jump: the most an extrapolation missed at a macro point, of the range of u; energy error: what the coupling added or lost, of the most that it stored or passed on."),
  );
}

function bondTable(report: RunReport): HTMLElement | null {
  const list = report.summary?.bonds ?? [];
  if (!list.length) return null;
  return h(
    "div",
    { id: "bonds" },
    h("h3", {}, "Power bonds"),
    table(
      ["bond", "flow", "effort", "corrected", "passed on [J]", "energy residual [J]", "of the most stored or passed on"],
      list.slice(0, most).map((x) => [
        name(x.name), name(x.flow), name(x.effort), x.corrected ? "yes" : "no", number(x.energy_exchanged, 4), number(x.energy_error, 4),
        percent(x.energy_error, x.energy_peak),
      ]),
      4,
    ),
    rest(list.length),
    h("p", { class: "note" }, "energy residual: what one side received more than the other gave; above zero the bond has made energy."),
  );
}

function errorTable(report: RunReport): HTMLElement | null {
  const second = report.with;
  if (!second) return null;
  return h(
    "div",
    {},
    h("h3", {}, `Errors against ${shorten(second.label)}`),
    table(
      ["variable", "largest error", "at t [s]", "root mean square", "range", "largest / range"],
      second.errors.slice(0, most).map((e) => [
        name(e.name), number(e.max, 4), number(e.time), number(e.rms, 4), number(e.range, 4),
        e.relative === null ? "–" : percent(e.relative, 1),
      ]),
    ),
    rest(second.errors.length),
    second.only_a.length + second.only_b.length
      ? h("p", { class: "note" }, `Not compared, since only one of the runs recorded them: ${shorten([...second.only_a, ...second.only_b].join(", "), 300)}.`)
      : null,
  );
}

function verificationTable(report: RunReport): HTMLElement | null {
  const verified = report.summary?.verification;
  if (!verified || !verified.variables.length) return null;
  const order = verified.order === undefined ? "" : `, observed order ${number(verified.order, 2)}`;
  return h(
    "div",
    {},
    h("h3", {}, `Errors, estimated with other macro steps${order}`),
    table(
      ["variable", "error about", "at t [s]", "of its range", "order", "coupled"],
      verified.variables.slice(0, most).map((x) => [
        name(x.name), x.error === null ? "–" : number(x.error, 3), number(x.time), x.relative === null ? "–" : percent(x.relative, 1),
        x.order === undefined || x.order === null ? "–" : number(x.order, 2), x.coupled ? "yes" : "no",
      ]),
    ),
    rest(verified.variables.length),
  );
}

function undefinedColumns(series: Table): string[] {
  // Every value of a long report would have to be decoded first.
  if (series.data.rows * series.names.length > 200000) return [];
  return series.names.filter((column) => series.curve(column)!.y.some((value) => !Number.isFinite(value)));
}

export function summarySection(report: RunReport, series: Table): HTMLElement {
  const list = findings(report, undefinedColumns(series));
  return section(
    "summary",
    "Summary",
    "",
    h(
      "ul",
      { class: "findings" },
      ...list.map((f) =>
        h("li", { class: f.level }, h("i", { title: signs[f.level][1], role: "img", "aria-label": signs[f.level][1] }, signs[f.level][0]),
          h("div", {}, h("p", {}, f.text), f.advice ? h("p", { class: "advice" }, f.advice) : null)),
      ),
    ),
    tiles(report),
    subsystemTable(report),
    connectionTable(report),
    bondTable(report),
    verificationTable(report),
    errorTable(report),
  );
}
