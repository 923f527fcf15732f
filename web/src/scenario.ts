import type { RunReport } from "./data";
import { button, h, section } from "./dom";

/// A line of YAML with its key, comment and rest told apart.
function line(text: string): Node[] {
  const comment = /(^|\s)#.*$/.exec(text);
  const code = comment ? text.slice(0, comment.index) : text;
  const key = /^(\s*(?:- )?)([^:{}[\]'"]+|"[^"]*"|'[^']*')(:)(?=\s|$)/.exec(code);
  const nodes: Node[] = [];
  if (key) nodes.push(document.createTextNode(key[1]), h("span", { class: "key" }, key[2]), document.createTextNode(":" + code.slice(key[0].length)));
  else nodes.push(document.createTextNode(code));
  if (comment) nodes.push(h("span", { class: "comment" }, text.slice(comment.index)));
  nodes.push(document.createTextNode("\n"));
  return nodes;
}

export function scenarioSection(report: RunReport): HTMLElement | null {
  const { text, cut } = report.scenario;
  if (!text) return null;
  const code = h("pre", { tabindex: 0, "aria-label": "Resolved scenario" }, h("code", {}, ...text.trimEnd().split("\n").flatMap(line)));
  const copy = button("Copy", "Copy the scenario", () => {
    void navigator.clipboard?.writeText(text).then(() => (copy.textContent = "Copied"));
  });
  return section(
    "scenario",
    "Scenario",
    "As it was run, with every default written out: the same file gives the same results.",
    h("div", { class: "code" }, copy, code),
    cut ? h("p", { class: "note" }, "The text is cut here; scenario.yaml in the run's folder has all of it.") : null,
  );
}
