// What all figures over simulated time share: the interval that is shown, and the time that is looked at.

type Listener = () => void;

/// Adds a listener; what is given back takes it away.
export function listen(listeners: Set<Listener>, listener: Listener): Listener {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export class View {
  min: number;
  max: number;
  cursor: number | null = null;
  private readonly listeners = new Set<Listener>();
  private readonly cursorListeners = new Set<Listener>();

  constructor(
    readonly begin: number,
    readonly end: number,
  ) {
    this.min = begin;
    this.max = end;
  }

  onRange(listener: Listener): Listener {
    return listen(this.listeners, listener);
  }
  onCursor(listener: Listener): Listener {
    return listen(this.cursorListeners, listener);
  }

  /// Shows an interval, moved and cut to what there is.
  show(min: number, max: number): void {
    const whole = this.end - this.begin;
    const least = Math.max(whole * 1e-9, Number.MIN_VALUE);
    const length = Math.min(Math.max(max - min, least), whole);
    const from = Math.min(Math.max(min, this.begin), this.end - length);
    if (!(whole > 0) || (from === this.min && from + length === this.max)) return;
    this.min = from;
    this.max = from + length;
    this.listeners.forEach((listener) => listener());
  }
  reset(): void {
    this.show(this.begin, this.end);
  }
  /// Around the time that is looked at, where it is visible.
  zoom(factor: number, around?: number): void {
    const visible = this.cursor !== null && this.cursor >= this.min && this.cursor <= this.max;
    const center = around ?? (visible ? this.cursor! : (this.min + this.max) / 2);
    this.show(center - (center - this.min) * factor, center + (this.max - center) * factor);
  }
  pan(share: number): void {
    const move = share * (this.max - this.min);
    this.show(this.min + move, this.max + move);
  }

  lookAt(t: number | null): void {
    if (t === this.cursor) return;
    this.cursor = t;
    this.cursorListeners.forEach((listener) => listener());
  }
}
