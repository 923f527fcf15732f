// Did it work? In plain words, the worst first.
import type { RunReport, Summary, SummaryConnection } from "./data";
import { singles } from "./data";
import { count, duration, number, percent, plural } from "./format";

export type Level = "bad" | "warn" | "note" | "good";
export interface Finding {
  level: Level;
  text: string;
  advice?: string;
}

const jumpOf = (c: SummaryConnection) => (c.u_max > c.u_min ? c.jump_max / (c.u_max - c.u_min) : 0);
const energyOf = (c: SummaryConnection) => (c.energy_exchanged > 0 ? Math.abs(c.energy_error) / c.energy_exchanged : 0);

/// The worst connection above a limit, and how many there are.
function worst(list: SummaryConnection[], size: (c: SummaryConnection) => number, limit: number) {
  const found = list.filter((c) => size(c) > limit).sort((a, b) => size(b) - size(a));
  return found.length ? { first: found[0], others: found.length > 1 ? ` and ${plural(found.length - 1, "other")}` : "" } : null;
}

function ending(summary: Summary): Finding[] {
  if (summary.status === "failed") return [{ level: "bad", text: `The run failed: ${summary.message}` }];
  if (summary.status === "interrupted") return [{ level: "warn", text: `The run was ${summary.message}; what was recorded until then is shown.` }];
  return [];
}

function couplings(summary: Summary): Finding[] {
  const out: Finding[] = [];
  const jump = worst(summary.connections, jumpOf, 0.05);
  if (jump)
    out.push({
      level: jumpOf(jump.first) > 0.25 ? "bad" : "warn",
      text: `Connection '${jump.first.name}'${jump.others}: at a macro point the extrapolation missed the coupling variable by ${percent(jump.first.jump_max, jump.first.u_max - jump.first.u_min)} of its range.`,
      advice: "A smaller macro step, or an extrapolation of higher order, resolves the coupling better. A single jump (a switch, an impact, the start) is no reason to worry; the curves below tell.",
    });
  const energy = worst(summary.connections, energyOf, 0.01);
  if (energy)
    out.push({
      level: energyOf(energy.first) > 0.1 ? "bad" : "warn",
      text: `Connection '${energy.first.name}'${energy.others}: the coupling ${energy.first.energy_error > 0 ? "added" : "lost"} ${percent(Math.abs(energy.first.energy_error), energy.first.energy_exchanged)} of the energy that went through it.`,
      advice: "Halve the macro step and compare: the error of a sound coupling falls at least fourfold.",
    });
  return out;
}

/// Jumps that keep growing are the sign of a coupling that begins to become unstable.
function growth(report: RunReport): Finding[] {
  const { coupling, summary } = report;
  if (!coupling || !summary) return [];
  for (const c of coupling.connections) {
    const jumps = singles(c.jump);
    const n = jumps.length;
    const whole = summary.connections.find((x) => x.name === c.name);
    if (n < 40 || !whole || jumpOf(whole) < 1e-3) continue;
    const largest = (from: number, to: number) => jumps.subarray(Math.floor(from * n), Math.floor(to * n)).reduce((a, b) => Math.max(a, b), 0);
    const [early, middle, late] = [largest(0.1, 0.4), largest(0.4, 0.7), largest(0.7, 1)];
    if (early > 0 && middle > 5 * early && late > 5 * middle)
      return [{
        level: "warn",
        text: `The jumps of connection '${c.name}' grow throughout the run (${number(late / early, 2)} times as large at its end).`,
        advice: "The coupling may be close to unstable: 'mdpcosim stability' gives the largest stable macro step.",
      }];
  }
  return [];
}

function comparison(report: RunReport): Finding[] {
  const second = report.with;
  if (!second || second.errors.length === 0) return [];
  const e = second.errors[0];
  const share = e.relative === null ? "an error that is not a number" : percent(e.relative, 1);
  return [{
    level: e.relative === null || e.relative > 0.05 ? "warn" : "good",
    text: `Against ${second.label} the largest deviation of ${plural(second.errors.length, "variable")} is ${share} of its range: '${e.name}' at t = ${number(e.time)} s.`,
  }];
}

function resources(summary: Summary): Finding[] {
  const out: Finding[] = [];
  const { work } = summary;
  if (work && summary.parallel_macro_steps > 0 && work.idle_share > 0.5 && summary.wall_seconds > 1)
    out.push({
      level: "note",
      text: `The workers were idle for ${percent(work.idle_share, 1)} of the time; '${work.critical_subsystem}' takes longest.`,
      advice: "Splitting it, or giving it a faster solver, shortens the run most.",
    });
  const struggling = summary.subsystems.filter((x) => x.micro_steps > 100 && x.rejected > 0.5 * x.micro_steps);
  if (struggling.length)
    out.push({
      level: "note",
      text: `The solver of '${struggling[0].name}'${struggling.length > 1 ? ` and ${plural(struggling.length - 1, "other")}` : ""} threw away more than a third of its steps.`,
      advice: "Events, a discontinuous input or a stiff model: another solver may suit it better.",
    });
  return out;
}

export function findings(report: RunReport, undefinedNames: string[]): Finding[] {
  const { summary } = report;
  const out: Finding[] = [];
  if (summary) {
    out.push(...ending(summary));
    for (const note of summary.notes) out.push({ level: note.includes("diverges") ? "bad" : "note", text: note });
    out.push(...couplings(summary), ...growth(report));
  } else {
    out.push({ level: "bad", text: "The run did not end in order (there is no summary.json); what was on disk is shown." });
  }
  if (report.cut) out.push({ level: "warn", text: "The last row of results.csv was cut off and is left out." });
  if (undefinedNames.length)
    out.push({ level: "bad", text: `Values that are not finite numbers in ${undefinedNames.slice(0, 3).join(", ")}${undefinedNames.length > 3 ? ` and ${undefinedNames.length - 3} more` : ""}.` });
  out.push(...comparison(report));
  if (summary) {
    out.push(...resources(summary));
    if (summary.status === "done" && !out.some((f) => f.level === "bad" || f.level === "warn")) out.unshift(allWell(summary));
  }
  const order: Level[] = ["bad", "warn", "good", "note"];
  return out.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function allWell(summary: Summary): Finding {
  if (summary.method === "monolithic")
    return { level: "good", text: `The reference ran to its end: ${number(summary.time.reached)} s in ${duration(summary.wall_seconds)}.` };
  const resolved = summary.connections.length
    ? `; every connection stayed within ${percent(Math.max(...summary.connections.map(jumpOf)), 1)} of its range at macro points`
    : "";
  return { level: "good", text: `The run ended as asked: ${count(summary.macro_steps)} macro steps to t = ${number(summary.time.reached)} s${resolved}.` };
}
