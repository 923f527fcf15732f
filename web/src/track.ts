// What scenes are made of: coordinates that are numbers, or one value per frame.

export type Track = number | Float32Array;
export interface Shape {
  kind: string;
  points: Track[][];
  size: Track[];
  rotation: Track[];
  ports: string[];
  place: Track[];
  closed: boolean;
  chain: Chain | null;
}
export interface Chain {
  count: number;
  coordinates: { low: number; step: number; values: Uint16Array }[];
}
export interface Scene {
  subsystem: string;
  colour: string;
  shapes: Shape[];
}

export const at = (track: Track | undefined, frame: number): number => (track === undefined ? 0 : typeof track === "number" ? track : track[frame]);

export interface SceneLink {
  spring: boolean;
  /// `subsystem` and port at every end
  ends: { subsystem: string; port: string }[];
}
