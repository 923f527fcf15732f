// The subsystems in motion: shapes that follow recorded outputs, with a slider in step with the plots.
import { doubles, type RunReport, type SceneData, type SceneShape, type SceneSubsystem, shorts, singles, type SystemConnection } from "./data";
import { button, h, s, section } from "./dom";
import { number, shorten } from "./format";
import { arrangeRow } from "./row";
import { saveButtons, svgText } from "./save";
import { type Camera, drawSpace, spaceExtent } from "./space";
import { colour } from "./theme";
import type { Scene, SceneLink, Shape, Track } from "./track";
import type { View } from "./view";

function decode(subsystem: SceneSubsystem, index: number): Scene {
  const track = (value: number | string): Track => (typeof value === "number" ? value : singles(value));
  const shape = (from: SceneShape): Shape => ({
    kind: from.kind,
    ports: from.ports ?? [],
    points: (from.points ?? []).map((point) => point.map(track)),
    size: from.size.map(track),
    rotation: from.rotation.map(track),
    place: (from.place ?? []).map(track),
    closed: from.closed ?? true,
    chain: from.chain ? { count: from.chain.count, coordinates: from.chain.coordinates.map(({ low, step, data }) => ({ low, step, values: shorts(data) })) } : null,
  });
  return { subsystem: subsystem.subsystem, colour: colour(index), shapes: subsystem.shapes.map(shape) };
}

const width = 1000;

export class SceneSection {
  readonly element: HTMLElement;
  private readonly time: Float64Array;
  private readonly svg = s("svg", { class: "chart scene", role: "img", "aria-label": "The subsystems in motion" });
  private readonly slider: HTMLInputElement;
  private readonly clock = h("output", { class: "clock" });
  private readonly play: HTMLButtonElement;
  private readonly drawFrame: (frame: number) => SVGElement[];
  private readonly camera: Camera;
  private frame = 0;
  private playing = 0;
  private speed = 1;

  static of(report: RunReport, view: View): SceneSection | null {
    const { scene } = report;
    if (!scene || !scene.subsystems.some((x) => x.shapes.some((shape) => shape.kind !== "spring" && shape.kind !== "ground"))) return null;
    return new SceneSection(report, scene, view);
  }

  private constructor(
    report: RunReport,
    scene: SceneData,
    private readonly view: View,
  ) {
    this.time = doubles(scene.time);
    const moving = scene.subsystems.map((x, i) => ({ row: x.row, ...decode(x, i) })).filter((x) => x.shapes.length);
    const row = arrangeRow(moving.filter((x) => x.row), links(report), this.time.length, width);
    const inSpace = moving.filter((x) => !x.row);
    const extent = spaceExtent(inSpace, this.time.length);
    this.camera = { yaw: 0, pitch: 0, flat: extent.flat };
    const rowHeight = row ? row.height : 0;
    const spaceHeight = inSpace.length ? 420 : 0;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${rowHeight + spaceHeight}`);
    this.drawFrame = (frame) => [
      ...(row ? row.draw(frame) : []),
      ...(inSpace.length ? [s("g", { transform: `translate(0 ${rowHeight})` }, ...drawSpace(inSpace, links(report), extent, this.camera, frame, width, spaceHeight))] : []),
    ];
    if (!extent.flat) {
      this.camera.yaw = -0.6;
      this.camera.pitch = 0.35;
    }
    this.slider = h("input", {
      type: "range", min: 0, max: this.time.length - 1, value: 0, step: 1, "aria-label": "Time",
      oninput: () => this.show(Number(this.slider.value), true),
    });
    this.play = button("▶ Play", "Play or pause", () => this.toggle());
    const speeds = h("select", { "aria-label": "Speed", onchange: () => (this.speed = Number(speeds.value)) },
      ...[0.25, 0.5, 1, 2, 4].map((x) => h("option", { value: x, selected: x === 1 }, `${x} ×`)));
    const turn = inSpace.length && !extent.flat;
    const frameElement = h("div", {
      class: "plot scene-frame", tabindex: 0, role: "group",
      "aria-label": `Animation. Space plays and pauses, arrow keys step${turn ? ", shift and arrow keys turn" : ""}.`,
      onkeydown: (event: KeyboardEvent) => this.onKey(event),
    }, this.svg);
    if (turn) this.addTurning();
    const missing = scene.subsystems.filter((x) => x.missing.length);
    this.element = section(
      "animation",
      "Animation",
      `The cursor of the plots and the slider go together.${row ? " Displacements in a row are drawn to a scale of their own." : ""}${turn ? " Drag to turn." : ""}`,
      h("figure", { class: "figure" },
        h("figcaption", {}, h("span", { class: "player" }, this.play, this.slider, speeds, this.clock), h("span", { class: "tools" }, saveButtons("animation", () => svgText(this.svg)))),
        frameElement),
      ...missing.slice(0, 3).map((x) => h("p", { class: "note" }, `'${shorten(x.subsystem, 40)}' is not drawn whole, since ${shorten(x.missing.join(", "), 80)} ${x.missing.length > 1 ? "were" : "was"} not recorded (key 'record' of the scenario).`)),
    );
    view.onCursor(() => this.follow());
    this.show(0, false);
  }

  private show(frame: number, tell: boolean): void {
    this.frame = Math.min(Math.max(frame, 0), this.time.length - 1);
    this.slider.value = String(this.frame);
    this.clock.textContent = `t = ${number(this.time[this.frame], 5)} s`;
    this.svg.replaceChildren(...this.drawFrame(this.frame));
    if (tell) this.view.lookAt(this.time[this.frame]);
  }

  private follow(): void {
    const t = this.view.cursor;
    if (t === null || t === this.time[this.frame]) return;
    let low = 0;
    let high = this.time.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle;
    }
    this.show(t - this.time[low] < this.time[high] - t ? low : high, false);
  }

  /// Ten seconds for the whole run, whatever its length.
  private toggle(): void {
    if (this.playing) {
      cancelAnimationFrame(this.playing);
      this.playing = 0;
      this.play.textContent = "▶ Play";
      return;
    }
    this.play.textContent = "❚❚ Pause";
    const span = this.time[this.time.length - 1] - this.time[0];
    if (this.frame >= this.time.length - 1) this.show(0, true);
    let now = this.time[this.frame];
    let last = performance.now();
    const step = (stamp: number) => {
      now += (Math.max(0, stamp - last) / 10000) * span * this.speed;
      last = stamp;
      let frame = this.frame;
      while (frame + 1 < this.time.length && this.time[frame + 1] <= now) ++frame;
      if (frame !== this.frame) this.show(frame, true);
      if (frame >= this.time.length - 1) this.toggle();
      else this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  private turn(yaw: number, pitch: number): void {
    this.camera.yaw += yaw;
    this.camera.pitch = Math.min(Math.max(this.camera.pitch + pitch, -1.5), 1.5);
    this.show(this.frame, false);
  }
  private addTurning(): void {
    this.svg.style.cursor = "grab";
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      const move = (e: PointerEvent) => this.turn(e.movementX * 0.008, e.movementY * 0.008);
      this.svg.addEventListener("pointermove", move);
      this.svg.addEventListener("pointerup", () => this.svg.removeEventListener("pointermove", move), { once: true });
    });
  }

  private onKey(event: KeyboardEvent): void {
    const turns: Record<string, [number, number]> = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    if (event.shiftKey && turns[event.key] && !this.camera.flat) this.turn(...turns[event.key]);
    else if (event.key === " ") this.toggle();
    else if (event.key === "ArrowLeft") this.show(this.frame - 1, true);
    else if (event.key === "ArrowRight") this.show(this.frame + 1, true);
    else if (event.key === "Home") this.show(0, true);
    else return;
    event.preventDefault();
  }
}

/// Connections that join two ports; which of them have a place in the scene is found out when drawing.
function links(report: RunReport): SceneLink[] {
  const split = (address: string) => ({ subsystem: address.slice(0, address.indexOf(".")), port: address.slice(address.indexOf(".") + 1) });
  return (report.system?.connections ?? [])
    .filter((c: SystemConnection) => !c.signal && c.ends.length === 2)
    .map((c) => ({ spring: c.law.includes("spring"), ends: c.ends.map((e) => split(e.address)) }));
}
