// Colours: after Okabe and Ito, told apart by colour-blind readers; a lighter set on dark ground. Figures name them as var(--name),
// so that they follow the theme; files that are saved have the light ones.

import { listen } from "./view";

const light: Record<string, string> = {
  ground: "#ffffff",
  card: "#ffffff",
  soft: "#f3f5f8",
  line: "#d9dee6",
  ink: "#1b2430",
  quiet: "#5b6675",
  accent: "#0b5f96",
  good: "#00734f",
  warn: "#9a5b00",
  bad: "#b3261e",
  c0: "#0072b2",
  c1: "#d55e00",
  c2: "#009e73",
  c3: "#cc79a7",
  c4: "#c98500",
  c5: "#3f9fd8",
  c6: "#6b5fb5",
  c7: "#3d3d3d",
};
const dark: Record<string, string> = {
  ground: "#11161d",
  card: "#171e27",
  soft: "#1f2833",
  line: "#313c4a",
  ink: "#e6ebf2",
  quiet: "#9aa7b8",
  accent: "#6cb6ee",
  good: "#4cc79a",
  warn: "#f0b040",
  bad: "#ff8a7a",
  c0: "#4aa8e8",
  c1: "#ff8a3d",
  c2: "#2ecc9c",
  c3: "#e39cc4",
  c4: "#f0b434",
  c5: "#8fd0ff",
  c6: "#a99cf0",
  c7: "#c9d1dc",
};

export const colours = 8;
export const colour = (index: number): string => `c${((index % colours) + colours) % colours}`;

let isDark = matchMedia("(prefers-color-scheme: dark)").matches;
let printing = false;
const listeners = new Set<() => void>();

function apply(): void {
  const set = isDark && !printing ? dark : light;
  for (const [name, value] of Object.entries(set)) document.documentElement.style.setProperty(`--${name}`, value);
  document.documentElement.style.colorScheme = isDark && !printing ? "dark" : "light";
  listeners.forEach((listener) => listener());
}

export function startTheme(): void {
  apply();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
    isDark = event.matches;
    apply();
  });
  // Paper is white.
  addEventListener("beforeprint", () => {
    printing = true;
    apply();
  });
  addEventListener("afterprint", () => {
    printing = false;
    apply();
  });
}
export function toggleTheme(): void {
  isDark = !isDark;
  apply();
}
export const onTheme = (listener: () => void): (() => void) => listen(listeners, listener);
/// The colour as the screen shows it now.
export const shown = (name: string): string => (isDark && !printing ? dark : light)[name];

/// A drawing with the light colours in place of their names.
export function onPaper(svg: string): string {
  return svg.replace(/var\(--([a-z0-9]+)\)/g, (all, name: string) => light[name] ?? all);
}
