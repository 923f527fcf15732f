// What the program has put into the page; written by src/report/ and src/engine/.

export interface ColumnData {
  name: string;
  unit: string;
  y: string;
  at?: string;
}
export interface SeriesData {
  rows: number;
  stride: number;
  single: boolean;
  left_out: number;
  time: string;
  columns: ColumnData[];
}

export interface SummarySubsystem {
  name: string;
  type: string;
  solver: string;
  micro_steps: number;
  evaluations: number;
  rejected: number;
  events: number;
  seconds_per_macro_step: number;
  worker: number;
}
export interface SummaryConnection {
  name: string;
  law: string;
  extrapolation: string;
  unit: string;
  u_min: number;
  u_max: number;
  u_end: number;
  jump_max: number;
  jump_rms: number;
  energy_error: number;
  energy_exchanged: number;
  energy_peak: number;
  unresolved: number;
  phase_error: number;
  amplitude_error: number;
}
export interface SummaryBond {
  name: string;
  flow: string;
  effort: string;
  corrected: boolean;
  energy_error: number;
  energy_exchanged: number;
  energy_peak: number;
}
export interface Work {
  cpu_seconds: number;
  work_seconds_per_macro_step: number;
  advance_seconds_per_macro_step: number;
  master_seconds_per_macro_step: number;
  idle_share: number;
  critical_path_seconds_per_macro_step: number;
  critical_subsystem: string;
  speed_up: number;
  speed_up_of_perfect_balance: number;
  amdahl: number;
  gustafson: number;
  expected_speed_up: Record<string, number>;
}
export interface Summary {
  scenario: string;
  folder: string;
  status: string;
  message: string;
  method: string;
  transport: string;
  time: { start: number; end: number; step: number; reached: number };
  macro_steps: number;
  parallel_macro_steps: number;
  workers: number;
  rows: number;
  wall_seconds: number;
  setup_seconds: number;
  subsystems: SummarySubsystem[];
  connections: SummaryConnection[];
  signals: SummaryConnection[];
  bonds?: SummaryBond[];
  verdict?: { level: "good" | "doubtful" | "wrong"; reasons: { level: "good" | "doubtful" | "wrong"; text: string; remedy: string }[] };
  verification?: {
    half_step: string;
    twice_step: string;
    order?: number;
    variables: { name: string; error: number | null; time: number; relative: number | null; coupled: boolean; order?: number | null }[];
  };
  notes: string[];
  integrations?: number;
  step_control?: { estimate: string; rtol: number; atol: number; accepted: number; rejected: number; smallest: number; largest: number };
  work?: Work;
}

export interface Port {
  name: string;
  kind: string;
  takes: string;
}
export interface SystemSubsystem {
  name: string;
  type: string;
  solver: string;
  ports: Port[];
}
export interface SystemConnection {
  name: string;
  law: string;
  text: string;
  unit: string;
  signal: boolean;
  node: boolean;
  extrapolation: string;
  ends: { address: string; factor: number; degree: number }[];
  from?: string[];
}
export interface CoupledSystem {
  subsystems: SystemSubsystem[];
  connections: SystemConnection[];
}

export interface CouplingData {
  macro_steps_per_point: number;
  time: string;
  H_min: string;
  H_max: string;
  rejected: string;
  H_rejected: string;
  /// of accepted steps, as a multiple of the tolerance
  error: string;
  connections: { name: string; jump: string; residual: string; energy_error: string }[];
  bonds?: { name: string; residual: string; energy_error: string }[];
}

/// [subsystem or -1 for the whole macro step, worker, macro step, begin in us, length in us]
export type ProfileEvent = [number, number, number, number, number];
export interface Profile {
  names: string[];
  events: ProfileEvent[];
  every: number;
  steps: number;
}

/// A number, or one value per frame.
export type TrackData = number | string;
export interface SceneShape {
  kind: string;
  ports?: string[];
  points?: TrackData[][];
  size: TrackData[];
  rotation: TrackData[];
  place?: TrackData[];
  closed?: boolean;
  chain?: ChainData;
}
/// Coordinates are low + step * n; data: n of 16 bit, all points of a frame, frame after frame. 65535 is none.
export interface ChainData {
  count: number;
  coordinates: { low: number; step: number; data: string }[];
}
export interface SceneSubsystem {
  subsystem: string;
  row: boolean;
  shapes: SceneShape[];
  missing: string[];
}
export interface SceneData {
  time: string;
  subsystems: SceneSubsystem[];
}

export interface VariableError {
  name: string;
  max: number | null;
  time: number;
  rms: number | null;
  range: number;
  relative: number | null;
}
export interface SecondRun {
  label: string;
  interpolated: number;
  only_a: string[];
  only_b: string[];
  errors: VariableError[];
  series: SeriesData;
  error_series: SeriesData;
  summary?: Summary | null;
}

export interface RunReport {
  kind: "run";
  label: string;
  summary: Summary | null;
  system: CoupledSystem | null;
  coupling: CouplingData | null;
  cut: boolean;
  scene?: SceneData | null;
  series: SeriesData;
  with?: SecondRun;
  profile: Profile | null;
  scenario: { text: string; cut: boolean };
}

export type Numbers = Float64Array | Float32Array;
export interface Curve {
  name: string;
  unit: string;
  x: Float64Array;
  y: Numbers;
}

function bytes(text: string): Uint8Array {
  const letters = atob(text);
  const out = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) out[i] = letters.charCodeAt(i);
  return out;
}
export const doubles = (text: string): Float64Array => new Float64Array(bytes(text).buffer);
export const shorts = (text: string): Uint16Array => new Uint16Array(bytes(text).buffer);
export const singles = (text: string): Float32Array => new Float32Array(bytes(text).buffer);

/// Recorded columns, decoded when they are asked for.
export class Table {
  readonly names: string[];
  readonly time: Float64Array;
  private readonly columns: Map<string, ColumnData>;
  private readonly curves = new Map<string, Curve>();

  constructor(readonly data: SeriesData) {
    this.time = doubles(data.time);
    this.names = data.columns.map((column) => column.name);
    this.columns = new Map(data.columns.map((column) => [column.name, column]));
  }

  get begin(): number {
    return this.time.length ? this.time[0] : 0;
  }
  get end(): number {
    return this.time.length ? this.time[this.time.length - 1] : 0;
  }
  unit(name: string): string {
    return this.columns.get(name)?.unit ?? "";
  }

  curve(name: string): Curve | null {
    const column = this.columns.get(name);
    if (!column) return null;
    let curve = this.curves.get(name);
    if (!curve) {
      const y = this.data.single ? singles(column.y) : doubles(column.y);
      curve = { name, unit: column.unit, x: column.at ? this.timesOf(bytes(column.at)) : this.time, y };
      this.curves.set(name, curve);
    }
    return curve;
  }

  /// First row, two points per bucket, last row.
  private timesOf(at: Uint8Array): Float64Array {
    const x = new Float64Array(at.length + 2);
    x[0] = this.begin;
    for (let i = 0; i < at.length; ++i) {
      const bucket = i >> 1;
      x[i + 1] = this.time[bucket] + (at[i] / 255) * (this.time[bucket + 1] - this.time[bucket]);
    }
    x[x.length - 1] = this.end;
    return x;
  }
}

/// The value of a curve at a time, on the straight line between its points; NaN outside.
export function valueAt(x: ArrayLike<number>, y: ArrayLike<number>, t: number): number {
  const n = x.length;
  if (n === 0 || t < x[0] || t > x[n - 1]) return NaN;
  let low = 0;
  let high = n - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x[middle] <= t) low = middle;
    else high = middle;
  }
  if (x[high] === x[low] || t === x[low]) return y[low];
  if (t === x[high]) return y[high];
  return y[low] + ((t - x[low]) / (x[high] - x[low])) * (y[high] - y[low]);
}

/// Curves on one common axis, as uPlot wants them: where a curve has no point, its straight line is read.
export function align(curves: { x: Float64Array; y: Numbers }[]): [number[], ...(number | null)[][]] {
  const shown = (value: number) => (Number.isFinite(value) ? value : null);
  const first = curves[0]?.x ?? new Float64Array();
  if (curves.every((curve) => curve.x === first))
    return [Array.from(first), ...curves.map((curve) => Array.from(curve.y, shown))];
  const all = new Float64Array(curves.reduce((sum, curve) => sum + curve.x.length, 0));
  let at = 0;
  for (const curve of curves) {
    all.set(curve.x, at);
    at += curve.x.length;
  }
  all.sort();
  const x: number[] = [];
  for (const t of all) if (x.length === 0 || t > x[x.length - 1]) x.push(t);
  return [x, ...curves.map((curve) => onGrid(curve, x, shown))];
}

function onGrid(
  curve: { x: Float64Array; y: Numbers },
  grid: number[],
  shown: (value: number) => number | null,
): (number | null)[] {
  const { x, y } = curve;
  let k = 0;
  return grid.map((t) => {
    if (x.length === 0 || t < x[0] || t > x[x.length - 1]) return null;
    while (k + 2 < x.length && x[k + 1] <= t) ++k;
    if (t === x[k] || x.length === 1) return shown(y[k]);
    if (t === x[k + 1]) return shown(y[k + 1]);
    return shown(y[k] + ((t - x[k]) / (x[k + 1] - x[k])) * (y[k + 1] - y[k]));
  });
}
