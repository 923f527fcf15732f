// Shapes in true coordinates, projected: x to the right, y up, z to the viewer; turned by yaw and pitch.
import { s } from "./dom";
import { shorten } from "./format";
import { at, type Scene, type SceneLink, type Shape, type Track } from "./track";
import { bar, spring } from "./shapes";

export interface Camera {
  yaw: number;
  pitch: number;
  flat: boolean;
}
export interface Extent {
  center: Vector;
  radius: number;
  /// half of the edges, where nothing leaves the plane
  half: [number, number];
  flat: boolean;
}
type Vector = [number, number, number];

const vector = (point: Track[], frame: number): Vector => [at(point[0], frame), at(point[1], frame), at(point[2], frame)];
const radiusOf = (shape: Shape, frame: number) => Math.max(0, ...shape.size.map((size) => at(size, frame))) / 2;

/// The points of a frame: of an outline turned and put to its place, of a chain those of its vectors.
function pointsOf(shape: Shape, frame: number): Vector[] {
  if (shape.chain) {
    const { count, coordinates } = shape.chain;
    const value = (k: number, i: number): number => {
      const c = coordinates[k];
      const n = c ? c.values[frame * count + i] : 0;
      return !c ? 0 : n === 65535 ? NaN : c.low + c.step * n;
    };
    return Array.from({ length: count }, (_, i) => [value(0, i), value(1, i), value(2, i)]);
  }
  const points = shape.points.map((point) => vector(point, frame));
  if (shape.kind !== "outline") return points;
  const place = vector(shape.place, frame);
  return points.map((point) => rotate(shape, frame, point).map((v, k) => v + place[k]) as Vector);
}

export function spaceExtent(scenes: Scene[], frames: number): Extent {
  const low: Vector = [Infinity, Infinity, Infinity];
  const high: Vector = [-Infinity, -Infinity, -Infinity];
  const every = Math.max(1, Math.floor(frames / 200));
  for (const scene of scenes)
    for (const shape of scene.shapes)
      for (let i = 0; i < frames; i += shape.chain ? 8 * every : every)
        for (const point of pointsOf(shape, i))
          point.forEach((v, k) => {
            const room = k < 2 ? radiusOf(shape, i) : 0;
            if (!Number.isFinite(v)) return;
            low[k] = Math.min(low[k], v - room);
            high[k] = Math.max(high[k], v + room);
          });
  const spatial = scenes.some((scene) => scene.shapes.some((shape) => shape.rotation.length === 4));
  const center = low.map((v, k) => (v + high[k]) / 2) as Vector;
  const half = low.map((v, k) => (high[k] - v) / 2) as Vector;
  return { center, radius: Math.hypot(...half) || 1, half: [half[0] || 1, half[1] || 1], flat: !spatial && !(half[2] > 1e-9 * Math.hypot(...half)) };
}

/// Of a wheel its centre.
const middle = (places: Vector[]): Vector => [0, 1, 2].map((k) => places.reduce((sum, place) => sum + place[k], 0) / places.length) as Vector;

/// A unit quaternion, or an angle about the viewer's axis, as a rotation of vectors.
function rotate(shape: Shape, frame: number, v: Vector): Vector {
  const q = shape.rotation.map((track) => at(track, frame));
  if (q.length === 0) return v;
  const [w, x, y, z] = q.length === 1 ? [Math.cos(q[0] / 2), 0, 0, Math.sin(q[0] / 2)] : q;
  const t: Vector = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]];
}

const corners: Vector[] = [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]];
const faces = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [2, 3, 7, 6], [1, 2, 6, 5], [0, 3, 7, 4]];

export function drawSpace(scenes: Scene[], links: SceneLink[], extent: Extent, camera: Camera, frame: number, width: number, height: number): SVGElement[] {
  const zoom = extent.flat
    ? Math.min((width - 120) / (2 * extent.half[0]), (height - 70) / (2 * extent.half[1]))
    : (Math.min(width, height) - 60) / (2 * extent.radius);
  const [cy, sy, cp, sp] = [Math.cos(camera.yaw), Math.sin(camera.yaw), Math.cos(camera.pitch), Math.sin(camera.pitch)];
  const project = (v: Vector): Vector => {
    const [x, y, z] = v.map((value, k) => value - extent.center[k]);
    const x1 = cy * x + sy * z;
    const z1 = -sy * x + cy * z;
    return [width / 2 + zoom * x1, height / 2 - zoom * (cp * y - sp * z1), sp * y + cp * z1];
  };
  const drawn: { depth: number; parts: SVGElement[] }[] = [];
  const put = (depth: number, ...parts: SVGElement[]) => drawn.push({ depth, parts });
  const ports = new Map<string, Vector>();
  const named = new Map<string, Vector>();
  for (const scene of scenes) {
    for (const shape of scene.shapes) {
      const places = pointsOf(shape, frame).map(project);
      if (places.some((place) => place.some((v) => !Number.isFinite(v)))) continue;
      const anchor = shape.kind === "outline" ? middle(places) : places[0];
      shape.ports.forEach((port) => ports.set(`${scene.subsystem}.${port}`, anchor));
      const depth = places.reduce((sum, place) => sum + place[2], 0) / places.length;
      const radius = zoom * radiusOf(shape, frame);
      const [x, y] = shape.chain || shape.kind === "outline" ? places.reduce((most, place) => (place[0] > most[0] ? place : most)) : places[places.length - 1];
      const before = named.get(scene.subsystem);
      const right = x + Math.max(radius, 5) + 7;
      if (!before || right > before[0]) named.set(scene.subsystem, [right, y + 4, 0]);
      if (shape.kind === "box") drawBox(shape, scene, frame, project, zoom, put);
      else if (shape.kind === "ball") put(depth, s("circle", { class: "body", cx: places[0][0], cy: places[0][1], r: Math.max(5, radius), style: `fill:var(--${scene.colour});stroke:var(--card)`, "stroke-width": 1.5 }));
      else if (shape.kind === "chain") put(depth, ...chain(places, shape.closed, radius));
      else if (shape.kind === "outline") put(depth, outline(places, shape.closed, radius, scene.colour));
      else if (shape.kind === "disc") put(depth, ...disc(places[0], Math.max(8, radius), at(shape.rotation[0], frame), scene.colour));
      else
        for (let k = 0; k + 1 < places.length; ++k) {
          const [a, b] = [places[k], places[k + 1]];
          put((a[2] + b[2]) / 2, shape.kind === "spring" ? spring(a[0], a[1], b[0], b[1]) : bar(a[0], a[1], b[0], b[1], shape.kind === "line" ? "quiet" : scene.colour, shape.kind === "line" ? 1.5 : Math.max(4, 2 * radius)));
        }
    }
  }
  for (const link of links) {
    const [a, b] = link.ends.map((end) => ports.get(`${end.subsystem}.${end.port}`));
    if (a && b && Math.hypot(a[0] - b[0], a[1] - b[1]) > 2)
      put((a[2] + b[2]) / 2 - 1e-6, link.spring ? spring(a[0], a[1], b[0], b[1], "accent") : bar(a[0], a[1], b[0], b[1], "accent", 2));
  }
  const names = [...named].map(([name, place]) => s("text", { x: place[0], y: place[1], "font-size": 13, style: "fill:var(--ink)" }, shorten(name, 24)));
  return [...drawn.sort((a, b) => a.depth - b.depth).flatMap((entry) => entry.parts), ...(names.length > 12 ? [] : names)];
}

function drawBox(shape: Shape, scene: Scene, frame: number, project: (v: Vector) => Vector, zoom: number, put: (depth: number, ...parts: SVGElement[]) => void): void {
  const center = vector(shape.points[0], frame);
  const edges = [0, 1, 2].map((k) => at(shape.size[k] ?? shape.size[shape.size.length - 1] ?? 0.1, frame) / 2);
  const places = corners.map((corner) => {
    const turned = rotate(shape, frame, [corner[0] * edges[0], corner[1] * edges[1], corner[2] * edges[2]]);
    return project([center[0] + turned[0], center[1] + turned[1], center[2] + turned[2]]);
  });
  for (const face of faces) {
    const [a, b, c, d] = face.map((k) => places[k]);
    const [ux, uy, uz, vx, vy, vz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2], d[0] - a[0], d[1] - a[1], d[2] - a[2]];
    const depth = (a[2] + b[2] + c[2] + d[2]) / 4;
    // What looks away is hidden by the rest of the box.
    if (depth < project(center)[2]) continue;
    const light = Math.abs(ux * vy - uy * vx) / (Math.hypot(ux, uy, uz * zoom) * Math.hypot(vx, vy, vz * zoom) || 1);
    const path = `M${[a, b, c, d].map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("L")}Z`;
    put(depth, s("path", { d: path, style: "fill:var(--ink)" }),
      s("path", { class: "body", d: path, style: `fill:var(--${scene.colour});stroke:var(--card)`, "fill-opacity": 0.65 + 0.35 * Math.min(1, light), "stroke-width": 1.2, "stroke-linejoin": "round" }));
  }
}

const path = (places: Vector[], closed: boolean) => `M${places.map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("L")}${closed ? "Z" : ""}`;

/// Two elements however many links there are: rollers are strokes without length.
function chain(places: Vector[], closed: boolean, radius: number): SVGElement[] {
  const roller = Math.max(3, 2 * radius);
  const rollers = places.map((p) => `M${p[0].toFixed(1)} ${p[1].toFixed(1)}h0`).join("");
  return [
    s("path", { class: "body", d: path(places, closed), fill: "none", "stroke-width": Math.max(1.5, 0.45 * roller), "stroke-linejoin": "round", style: "stroke:var(--quiet)" }),
    s("path", { d: rollers, fill: "none", "stroke-width": roller, "stroke-linecap": "round", style: "stroke:var(--ink)" }),
  ];
}

function outline(places: Vector[], closed: boolean, radius: number, tone: string): SVGElement {
  return closed
    ? s("path", { class: "body", d: path(places, true), "stroke-width": 1.2, "stroke-linejoin": "round", style: `fill:var(--${tone});fill-opacity:0.75;stroke:var(--${tone})` })
    : s("path", { class: "body", d: path(places, false), fill: "none", "stroke-width": Math.max(2.5, 2 * radius), "stroke-linejoin": "round", "stroke-linecap": "round", style: `stroke:var(--${tone})` });
}

function disc(place: Vector, radius: number, angle: number, tone: string): SVGElement[] {
  return [
    s("circle", { class: "body", cx: place[0], cy: place[1], r: radius, style: `fill:var(--${tone})` }),
    s("line", { x1: place[0], y1: place[1], x2: place[0] + radius * Math.cos(angle), y2: place[1] - radius * Math.sin(angle), "stroke-width": 2.5, style: "stroke:var(--card)" }),
  ];
}
