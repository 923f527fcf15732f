// Stability over two parameters as a picture.
import { drawChart, margins, Scale } from "./chart";
import { doubles } from "./data";
import { h, s } from "./dom";
import { number } from "./format";
import { saveButtons, svgText } from "./save";

export interface StabilityMap {
  title: string;
  x: string;
  y: string;
  rho: string;
}

const tolerance = 1e-6;
/// One hue whose lightness falls: read without seeing colours. Growth of 1e-4 and less to 10 and more.
function shade(growth: number): string | null {
  if (!(growth > tolerance)) return Number.isFinite(growth) ? null : "rgb(96,24,0)";
  const part = Math.min(1, Math.max(0, (Math.log10(growth) + 4) / 5));
  const mix = (a: number, b: number) => Math.round(a + (b - a) * part);
  return `rgb(${mix(254, 96)},${mix(230, 24)},${mix(206, 0)})`;
}

export function mapFigure(map: StabilityMap): HTMLElement {
  const [F, omega, rho] = [doubles(map.x), doubles(map.y), doubles(map.rho)];
  const [width, height] = [560, 420];
  const x = { label: "F = c/c_A", log: true, min: F[0], max: F[F.length - 1] };
  const y = { label: "ω_A H", log: true, min: omega[0], max: omega[omega.length - 1] };
  const sx = new Scale(x, margins.left, width - margins.right);
  const sy = new Scale(y, height - margins.bottom, margins.top);
  const dx = (sx.high - sx.low) / (F.length - 1);
  const dy = (sy.low - sy.high) / (omega.length - 1);
  const cells: SVGElement[] = [];
  F.forEach((f, i) => {
    // Cells of one shade that stand above each other become one.
    for (let k = 0; k < omega.length; ) {
      const fill = shade(rho[i * omega.length + k] - 1);
      let end = k + 1;
      while (end < omega.length && shade(rho[i * omega.length + end] - 1) === fill) ++end;
      if (fill) cells.push(s("rect", { x: sx.at(f) - dx / 2, width: dx + 0.3, y: sy.at(omega[end - 1]) - dy / 2, height: (end - k) * dy + 0.3, fill, "shape-rendering": "crispEdges" }));
      k = end;
    }
  });
  const svg = drawChart({ title: map.title, x, y, curves: [], width, height, legend: false });
  svg.classList.add("map");
  const ground = s("rect", { x: sx.low, y: sy.high, width: sx.high - sx.low, height: sy.low - sy.high, fill: "#ffffff" });
  svg.querySelector(".curves")!.append(ground, ...cells);
  const reading = h("div", { class: "legend reading", role: "status" }, "\u00a0");
  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const [px, py] = [((event.clientX - frame.left) * width) / frame.width, ((event.clientY - frame.top) * width) / frame.width];
    const i = Math.round((px - sx.low) / dx);
    const k = Math.round((sy.low - py) / dy);
    if (i < 0 || k < 0 || i >= F.length || k >= omega.length) return;
    const growth = rho[i * omega.length + k] - 1;
    reading.textContent = `F = ${number(F[i], 4)}, ω_A H = ${number(omega[k], 4)}: ${growth > tolerance ? `grows by ${number(growth, 3)} per macro step` : "stable"}`;
  });
  return h("figure", { class: "figure" }, h("figcaption", {}, h("span", {}), h("span", { class: "tools" }, saveButtons(`map ${map.title}`, () => svgText(svg)))), svg, reading);
}
