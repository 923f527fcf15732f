// Did it work? In plain words, the worst first.
import type { RunReport, Summary } from "./data";
import { count, duration, number, percent, plural } from "./format";

export type Level = "bad" | "warn" | "note" | "good";
export interface Finding {
  level: Level;
  text: string;
  advice?: string;
}

function ending(summary: Summary): Finding[] {
  if (summary.status === "failed") return [{ level: "bad", text: `The run failed: ${summary.message}` }];
  if (summary.status === "interrupted") return [{ level: "warn", text: `The run was ${summary.message}; what was recorded until then is shown.` }];
  return [];
}

/// What the run itself was judged to be.
function judged(summary: Summary): Finding[] {
  if (summary.status === "failed") return [];
  return (summary.verdict?.reasons ?? []).map((r) => ({
    level: r.level === "wrong" ? "bad" : "warn",
    text: `${r.level === "wrong" ? "Wrong" : "Doubtful"}: ${r.text}.`,
    advice: r.remedy ? `${r.remedy[0].toUpperCase()}${r.remedy.slice(1)}.` : undefined,
  }));
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
    for (const note of summary.notes) out.push({ level: "note", text: note });
    out.push(...judged(summary));
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
  const trusted = summary.verdict && summary.connections.length + summary.signals.length ? "; its couplings are judged good" : "";
  const worst = summary.verification?.variables.find((x) => x.coupled);
  const verified = worst && worst.relative !== null ? `. Verified with half the macro step: no coupled variable is off by more than about ${percent(worst.relative, 1)} of its range` : "";
  return { level: "good", text: `The run ended as asked: ${count(summary.macro_steps)} macro steps to t = ${number(summary.time.reached)} s${trusted}${verified}.` };
}
