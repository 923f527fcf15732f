// Drawn parts that scenes share.
import { s } from "./dom";

export function springPath(x0: number, y0: number, x1: number, y1: number, radius = 8, turns = 8): string {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const straight = Math.min(10, length / 5);
  const point = (along: number, side: number) => `${(x0 + ux * along - uy * side).toFixed(1)} ${(y0 + uy * along + ux * side).toFixed(1)}`;
  let d = `M${point(0, 0)}L${point(straight, 0)}`;
  for (let k = 0; k < 2 * turns; ++k) d += `L${point(straight + ((length - 2 * straight) * (k + 0.5)) / (2 * turns), k % 2 ? -radius : radius)}`;
  return `${d}L${point(length - straight, 0)}L${point(length, 0)}`;
}

export function spring(x0: number, y0: number, x1: number, y1: number, tone = "quiet", radius = 8, turns = 8): SVGElement {
  return s("path", { d: springPath(x0, y0, x1, y1, radius, turns), fill: "none", "stroke-width": 1.8, "stroke-linejoin": "round", style: `stroke:var(--${tone})` });
}

export function bar(x0: number, y0: number, x1: number, y1: number, tone: string, thickness: number): SVGElement {
  return s("line", { x1: x0, y1: y0, x2: x1, y2: y1, "stroke-width": thickness, "stroke-linecap": "round", style: `stroke:var(--${tone})` });
}

/// A wall; `side` is where its hatching is: -1 left, 1 right.
export function wall(x: number, y: number, half: number, side: number): SVGElement[] {
  const hatch = [];
  for (let k = -half; k <= half; k += 9) hatch.push(`M${x} ${y + k}l${side * 9} ${-9}`);
  return [
    s("path", { d: hatch.join(""), fill: "none", "stroke-width": 1, style: "stroke:var(--quiet)" }),
    s("line", { x1: x, x2: x, y1: y - half, y2: y + half, "stroke-width": 2.5, style: "stroke:var(--quiet)" }),
  ];
}
