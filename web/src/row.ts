// Oscillators and rotors side by side: rest positions are the page's, displacements the run's.
import { s } from "./dom";
import { shorten } from "./format";
import { at, type Scene, type SceneLink, type Shape } from "./track";
import { bar, spring, wall } from "./shapes";

interface Place {
  shape: Shape;
  scene: Scene;
  x: number;
}
interface Row {
  height: number;
  draw(frame: number): SVGElement[];
}

const half = 26;
const middle = 66;

/// A part that stands at its end of the row looks to that end.
function order(scene: Scene, last: boolean): Shape[] {
  const kinds = scene.shapes.map((shape) => shape.kind);
  return last && kinds[0] === "ground" && kinds[kinds.length - 1] !== "ground" ? [...scene.shapes].reverse() : scene.shapes;
}

/// The largest displacement, and the largest change of a distance between neighbours.
function largestMotion(bodies: Place[], frames: number): [number, number] {
  const blocks = bodies.filter((place) => place.shape.kind === "block");
  let own = 0;
  let relative = 0;
  for (let i = 0; i < frames; ++i) {
    const x = blocks.map((place) => at(place.shape.points[0][0], i));
    x.forEach((value, k) => {
      if (!Number.isFinite(value)) return;
      own = Math.max(own, Math.abs(value));
      if (k > 0 && Number.isFinite(x[k - 1])) relative = Math.max(relative, x[k - 1] - value);
    });
  }
  return [own || 1, relative || 1e-300];
}

export function arrangeRow(scenes: Scene[], links: SceneLink[], frames: number, width: number): Row | null {
  if (scenes.length === 0) return null;
  const bodies: Place[] = [];
  const sequence: { kind: string; place?: Place; scene: Scene }[] = [];
  scenes.forEach((scene, i) => {
    for (const shape of order(scene, i > 0 && i === scenes.length - 1)) {
      const body = shape.kind === "block" || shape.kind === "wheel";
      const place = { shape, scene, x: 0 };
      if (body) bodies.push(place);
      sequence.push({ kind: shape.kind, place: body ? place : undefined, scene });
    }
  });
  // Everything but springs takes room.
  const standing = sequence.filter((part) => part.kind === "block" || part.kind === "wheel" || part.kind === "ground");
  const pitch = (width - 60) / standing.length;
  const walls = new Map<object, number>();
  standing.forEach((part, i) => {
    const x = 30 + (i + 0.5) * pitch;
    if (part.place) part.place.x = x;
    else walls.set(part, x);
  });
  const size = Math.min(half, pitch * 0.3);
  const [own, relative] = largestMotion(bodies, frames);
  const scale = Math.min((pitch * 0.32) / own, (0.75 * (pitch - 2 * size)) / relative);
  const turns = Math.max(2, Math.min(8, Math.round(pitch / 14)));
  const xOf = (place: Place, frame: number) => place.x + (place.shape.kind === "block" ? scale * at(place.shape.points[0][0], frame) : 0);
  const hasWheels = bodies.some((place) => place.shape.kind === "wheel");

  const joined = links.flatMap((link) => {
    const ends = link.ends.map((end) => bodies.find((b) => b.scene.subsystem === end.subsystem && b.shape.ports.includes(end.port)));
    return ends[0] && ends[1] ? [{ spring: link.spring, from: ends[0], to: ends[1] }] : [];
  });

  const between = (x0: number, x1: number, kind: string, tone: string): SVGElement =>
    kind === "spring" ? spring(x0, middle, x1, middle, tone, Math.min(9, size * 0.5), turns) : bar(x0, middle, x1, middle, tone, kind === "damper" ? 5 : 3);

  return {
    height: 150,
    draw(frame) {
      const parts: SVGElement[] = [];
      if (!hasWheels) parts.push(s("line", { x1: 20, x2: width - 20, y1: middle + size + 4, y2: middle + size + 4, style: "stroke:var(--line)" }));
      sequence.forEach((part, i) => {
        if (part.kind === "ground") {
          const first = sequence[i + 1]?.scene === part.scene;
          parts.push(...wall(walls.get(part)!, middle, half + 8, first ? -1 : 1));
        }
        if (part.kind !== "spring" && part.kind !== "damper") return;
        const edge = (neighbour: (typeof sequence)[number] | undefined, side: number): number | null => {
          if (!neighbour || neighbour.scene !== part.scene) return null;
          if (neighbour.place) return xOf(neighbour.place, frame) + side * size;
          return walls.get(neighbour) ?? null;
        };
        const from = edge(sequence[i - 1], 1);
        const to = edge(sequence[i + 1], -1);
        if (from !== null && to !== null) parts.push(between(from, to, part.kind, "quiet"));
      });
      for (const link of joined) {
        const [a, b] = link.from.x < link.to.x ? [link.from, link.to] : [link.to, link.from];
        parts.push(between(xOf(a, frame) + size, xOf(b, frame) - size, link.spring ? "spring" : "rod", "accent"));
      }
      for (const place of bodies) parts.push(...body(place, xOf(place, frame), size, frame));
      const named = new Set<string>();
      for (const place of bodies) {
        if (named.has(place.scene.subsystem)) continue;
        named.add(place.scene.subsystem);
        const own = bodies.filter((b) => b.scene === place.scene);
        const x = own.reduce((sum, b) => sum + b.x, 0) / own.length;
        parts.push(s("text", { x, y: middle + half + 34, "text-anchor": "middle", "font-size": 13, style: "fill:var(--ink)" }, shorten(place.scene.subsystem, 24)));
      }
      return parts;
    },
  };
}

function body(place: Place, x: number, size: number, frame: number): SVGElement[] {
  const fill = `fill:var(--${place.scene.colour})`;
  if (place.shape.kind === "block")
    return [s("rect", { class: "body", x: x - size, y: middle - size, width: 2 * size, height: 2 * size, rx: Math.min(5, size / 4), style: fill })];
  const angle = at(place.shape.rotation[0], frame);
  const radius = size + 6;
  return [
    s("circle", { cx: x, cy: middle, r: radius, style: fill }),
    s("line", { class: "body", x1: x - radius * Math.cos(angle), y1: middle + radius * Math.sin(angle), x2: x + radius * Math.cos(angle), y2: middle - radius * Math.sin(angle), "stroke-width": 3, style: "stroke:var(--card)" }),
    s("circle", { cx: x + radius * 0.72 * Math.cos(angle), cy: middle - radius * 0.72 * Math.sin(angle), r: 4, style: "fill:var(--card)" }),
  ];
}
