// The coupled system as a drawing: subsystems with their ports, connections with their laws, signals as arrows.
import { Graph, layout } from "@dagrejs/dagre";
import type { CoupledSystem, RunReport, SystemConnection } from "./data";
import { h, s, section } from "./dom";
import { plural, shorten } from "./format";
import { saveButtons, svgText } from "./save";
import { colour } from "./theme";

const mostDrawn = 150;
const letter = 7.1;
const widthOf = (text: string, size = letter) => [...text].length * size;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
type Point = { x: number; y: number };

/// Addresses are `subsystem.port...`; names may hold dots, so the longest name that fits is taken.
function owner(address: string, names: Set<string>): { subsystem: string; port: string } | null {
  for (let dot = address.lastIndexOf("."); dot > 0; dot = address.lastIndexOf(".", dot - 1)) {
    const subsystem = address.slice(0, dot);
    if (names.has(subsystem)) return { subsystem, port: address.slice(dot + 1) };
  }
  return null;
}

interface Link {
  from: string;
  to: string;
  fromPort: string;
  toPort: string;
  signal: boolean;
  label: string;
}

class Drawing {
  private readonly graph = new Graph({ multigraph: true });
  private readonly links: Link[] = [];
  private readonly names: Set<string>;
  private readonly connections: SystemConnection[];

  constructor(
    private readonly system: CoupledSystem,
    private readonly workers: Map<string, number>,
    private readonly severalWorkers: boolean,
  ) {
    const drawn = system.subsystems.slice(0, mostDrawn);
    this.names = new Set(drawn.map((x) => x.name));
    this.graph.setGraph({ rankdir: "LR", nodesep: 34, ranksep: 90, marginx: 16, marginy: 22 });
    this.graph.setDefaultEdgeLabel(() => ({}));
    for (const x of drawn) {
      const width = Math.max(96, widthOf(shorten(x.name, 26), 8.2) + 28, widthOf(shorten(x.type, 30), 6.3) + 28);
      this.graph.setNode(`s:${x.name}`, { width, height: 58 });
    }
    this.connections = system.connections.filter((c) => !c.signal && c.ends.some((e) => owner(e.address, this.names)));
    for (const c of this.connections) this.addConnection(c);
    for (const c of system.connections) if (c.signal) this.addSignal(c);
    this.links.forEach((link, i) => this.graph.setEdge(link.from, link.to, {}, String(i)));
    layout(this.graph);
  }

  private addConnection(c: SystemConnection): void {
    const width = Math.max(70, widthOf(shorten(c.name, 24)) + 24, widthOf(shorten(c.law, 26), 6.2) + 24);
    this.graph.setNode(`c:${c.name}`, { width, height: 40 });
    c.ends.forEach((end, i) => {
      const at = owner(end.address, this.names);
      if (!at) return;
      const subsystem = `s:${at.subsystem}`;
      const connection = `c:${c.name}`;
      const into = i > 0;
      this.links.push({
        from: into ? connection : subsystem, to: into ? subsystem : connection,
        fromPort: into ? "" : at.port, toPort: into ? at.port : "", signal: false, label: "",
      });
    });
  }

  private addSignal(c: SystemConnection): void {
    const to = owner(c.ends[0]?.address ?? "", this.names);
    if (!to) return;
    const sources = (c.from ?? []).flatMap((address) => owner(address, this.names) ?? []);
    for (const from of sources)
      this.links.push({ from: `s:${from.subsystem}`, to: `s:${to.subsystem}`, fromPort: from.port, toPort: to.port, signal: true, label: c.text });
  }

  private box(id: string): Box {
    return this.graph.node(id) as Box;
  }

  private smooth(points: Point[]): string {
    const p = (point: Point) => `${point.x.toFixed(1)} ${point.y.toFixed(1)}`;
    let d = `M${p(points[0])}`;
    for (let i = 1; i + 1 < points.length; ++i) {
      const next = i + 2 < points.length ? { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 } : points[i + 1];
      d += `Q${p(points[i])} ${p(next)}`;
    }
    return points.length > 2 ? d : `${d}L${p(points[points.length - 1])}`;
  }

  private port(name: string, place: Point, towards: Point, signal: boolean): SVGElement[] {
    const right = towards.x >= place.x;
    const up = Math.abs(towards.y - place.y) > Math.abs(towards.x - place.x);
    return [
      signal
        ? s("circle", { cx: place.x, cy: place.y, r: 3, style: "fill:var(--card);stroke:var(--quiet)", "stroke-width": 1.4 })
        : s("rect", { x: place.x - 4, y: place.y - 4, width: 8, height: 8, rx: 1.5, style: "fill:var(--accent)" }),
      s("text", { x: place.x + (right ? 7 : -7), y: place.y - (up ? 8 : 6), "font-size": 10.5, "text-anchor": right ? "start" : "end", style: "fill:var(--quiet);stroke:var(--card);stroke-width:3px;paint-order:stroke" }, shorten(name, 18), s("title", {}, name)),
    ];
  }

  /// Lines first, so that none runs through a name.
  private edges(): SVGElement[] {
    const lines: SVGElement[] = [];
    const ports: SVGElement[] = [];
    this.links.forEach((link, i) => {
      const edge = this.graph.edge({ v: link.from, w: link.to, name: String(i) }) as { points?: Point[] };
      const points = edge?.points ?? [];
      if (points.length < 2) return;
      lines.push(
        s("path", {
          d: this.smooth(points), fill: "none", "stroke-width": link.signal ? 1.3 : 2.2,
          style: `stroke:var(--${link.signal ? "quiet" : "accent"})`, "marker-end": link.signal ? "url(#arrow)" : undefined,
          "stroke-dasharray": link.signal ? "5 3" : undefined,
        }, s("title", {}, link.label)),
      );
      if (link.fromPort) ports.push(...this.port(link.fromPort, points[0], points[1], link.signal));
      if (link.toPort) ports.push(...this.port(link.toPort, points[points.length - 1], points[points.length - 2], link.signal));
    });
    return [...lines, ...ports];
  }

  private subsystems(): SVGElement[] {
    return this.system.subsystems.slice(0, mostDrawn).map((x) => {
      const { x: cx, y: cy, width, height } = this.box(`s:${x.name}`);
      const worker = this.workers.get(x.name);
      const stripe = this.severalWorkers && worker !== undefined ? colour(worker) : "accent";
      return s(
        "g",
        { class: "subsystem" },
        s("title", {}, `${x.name}\n${x.type}${x.solver ? `, solver ${x.solver}` : ""}${worker !== undefined ? `, worker ${worker}` : ""}\n${x.ports.map((p) => `port ${p.name}: ${p.kind}, takes ${p.takes}`).join("\n")}`),
        s("rect", { x: cx - width / 2, y: cy - height / 2, width, height, rx: 7, style: "fill:var(--soft);stroke:var(--quiet)", "stroke-width": 1.2 }),
        s("rect", { x: cx - width / 2, y: cy - height / 2, width, height: 5, rx: 2.5, style: `fill:var(--${stripe})` }),
        s("text", { x: cx, y: cy - 5, "text-anchor": "middle", "font-size": 14, "font-weight": 600, style: "fill:var(--ink)" }, shorten(x.name, 26)),
        s("text", { x: cx, y: cy + 11, "text-anchor": "middle", "font-size": 11, style: "fill:var(--quiet)" }, shorten(x.type, 30)),
        s("text", { x: cx, y: cy + 24, "text-anchor": "middle", "font-size": 10.5, style: "fill:var(--quiet)" },
          shorten([x.solver, this.severalWorkers && worker !== undefined ? `worker ${worker}` : ""].filter(Boolean).join(" · "), 32)),
      );
    });
  }

  private pills(): SVGElement[] {
    return this.connections.map((c) => {
      const { x, y, width, height } = this.box(`c:${c.name}`);
      return s(
        "g",
        { class: "connection" },
        s("title", {}, `${c.name}: ${c.text}\nu in ${c.unit}, extrapolation ${c.extrapolation}\n${c.ends.map((e) => `${e.address} receives ${e.factor === 1 ? "+u" : e.factor === -1 ? "−u" : `${e.factor}·u`}, degree ${e.degree}`).join("\n")}`),
        s("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2, style: "fill:var(--card);stroke:var(--accent)", "stroke-width": 1.6 }),
        s("text", { x, y: y - 2, "text-anchor": "middle", "font-size": 12.5, "font-weight": 600, style: "fill:var(--ink)" }, shorten(c.name, 24)),
        s("text", { x, y: y + 12, "text-anchor": "middle", "font-size": 10.5, style: "fill:var(--quiet)" }, shorten(c.law, 26)),
      );
    });
  }

  svg(): SVGSVGElement {
    const { width = 100, height = 100 } = this.graph.graph() as { width?: number; height?: number };
    return s(
      "svg",
      { viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, class: "graph", role: "img", "aria-label": `${plural(this.system.subsystems.length, "subsystem")} and ${plural(this.connections.length, "connection")}`, style: `max-width:${Math.ceil(width * 1.15)}px;min-width:${Math.ceil(width * 0.55)}px` },
      s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { d: "M0 0L8 4L0 8Z", style: "fill:var(--quiet)" }))),
      ...this.edges(),
      ...this.subsystems(),
      ...this.pills(),
    );
  }
}

export function graphSection(report: RunReport): HTMLElement | null {
  const { system, summary } = report;
  if (!system || system.subsystems.length === 0) return null;
  const workers = new Map((summary?.subsystems ?? []).map((x) => [x.name, x.worker]));
  const several = new Set(workers.values()).size > 1 && summary?.method !== "monolithic";
  const svg = new Drawing(system, several ? workers : new Map(), several).svg();
  const left = system.subsystems.length - mostDrawn;
  const where = summary && summary.method !== "monolithic" ? ` Subsystems are reached by ${summary.transport}, ${plural(summary.workers, "worker")}.` : "";
  return section(
    "system",
    "Coupled system",
    `Solid lines join ports by coupling laws, dashed arrows are signals; point at anything for details.${where}`,
    h("figure", { class: "figure" }, h("figcaption", {}, h("span", { class: "caption" }, "Coupled system"), h("span", { class: "tools" }, saveButtons("coupled-system", () => svgText(svg)))), h("div", { class: "scroll", tabindex: 0, "aria-label": "Graph of the coupled system" }, svg)),
    left > 0 ? h("p", { class: "note" }, `The first ${mostDrawn} of ${system.subsystems.length} subsystems are drawn.`) : null,
  );
}
