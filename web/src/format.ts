/// A number as people read it: six digits at most, no trailing zeros.
export function number(value: number | null | undefined, digits = 6): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return (exponent ? `${short}e${Number(exponent)}` : short).replace(/^-/, "−");
}

const prefixes: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  if (seconds >= 7200) return `${number(seconds / 3600, 3)} h`;
  if (seconds >= 120) return `${number(seconds / 60, 3)} min`;
  const [scale, unit] = prefixes.find(([size]) => Math.abs(seconds) >= size) ?? prefixes[prefixes.length - 1];
  return `${number(seconds / scale, 3)} ${unit}`;
}

export function percent(part: number, whole: number): string {
  if (!(whole > 0) || !Number.isFinite(part)) return "–";
  const share = (100 * part) / whole;
  const size = Math.abs(share);
  return `${size >= 100 ? Math.round(share) : number(share, size >= 10 ? 3 : 2)} %`;
}

export function count(value: number): string {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/// Names may be of any length; the whole name stays in the title.
export function shorten(text: string, most = 60): string {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 12).join("")}…${letters.slice(-11).join("")}`;
}
