import type { Control, TimeUnit } from './catalogue/section.ts';

/** A unit: its size in the stored unit, and its name. */
export type Unit = readonly [factor: number, name: string];

const timeUnits: Readonly<Record<TimeUnit, readonly Unit[]>> = {
  ms: [
    [1, 'ms'],
    [1000, 'seconds'],
    [60_000, 'minutes'],
    [3_600_000, 'hours'],
  ],
  s: [
    [1, 'seconds'],
    [60, 'minutes'],
    [3600, 'hours'],
    [86_400, 'days'],
  ],
  d: [
    [1, 'days'],
    [7, 'weeks'],
    [365, 'years'],
  ],
};

const sizeUnits: readonly Unit[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB'].map((name, power) => [1024 ** power, name]);

/** Returns a control's units, smallest first. Undefined if it has none. */
export const unitsOf = (control: Control | undefined): readonly Unit[] | undefined =>
  control?.kind === 'time' ? timeUnits[control.unit] : control?.kind === 'size' ? sizeUnits : undefined;

/** An amount as it is typed, with its unit's factor. */
export interface Quantity {
  readonly amount: string;
  readonly factor: number;
}

const isWhole = (text: string): boolean => /^\d{1,15}$/.test(text);

/** Splits a stored text into an amount and the largest unit that leaves it whole. */
export function splitQuantity(text: string, units: readonly Unit[]): Quantity {
  const value = isWhole(text) ? Number(text) : 0;
  const factor = units.findLast(([size]) => value > 0 && value % size === 0)?.[0] ?? 1;
  return { amount: value > 0 ? String(value / factor) : text, factor };
}

/** Returns the text to store. An amount that makes no whole number stays as it is, for {@link wrongOf} to name. */
export function joinQuantity({ amount, factor }: Quantity): string {
  const typed = amount.trim();
  const value = /^\d{1,15}(\.\d{1,9})?$/.test(typed) ? Math.round(Number(typed) * factor * 1e6) / 1e6 : Number.NaN;
  return Number.isInteger(value) ? String(value) : typed;
}

/** Formats a stored text with its unit, such as `7 days`. */
export function quantityText(text: string, control: Control | undefined): string {
  const units = unitsOf(control);
  if (!units) return control?.kind === 'number' && control.unit ? `${text} ${control.unit}` : text;
  const { amount, factor } = splitQuantity(text, units);
  const name = units.find(([size]) => size === factor)?.[1] ?? '';
  return `${amount} ${amount === '1' ? name.replace(/s$/, '') : name}`;
}

/** Returns what is wrong with a text before it is sent. Undefined if the server may judge it. */
export function wrongOf(control: Control | undefined, text: string): string | undefined {
  if (text === '') return undefined;
  // An empty custom rule is `false`.
  if (control?.kind === 'channels' && /"(?:publish|subscribe)_rule":false/.test(text))
    return 'Write each custom rule, or choose who can.';
  if (!unitsOf(control)) return undefined;
  if (!isWhole(text)) return 'Write a number, such as 30 or 1.5.';
  if (control?.kind !== 'time') return undefined;
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = control;
  return Number(text) < min || Number(text) > max
    ? `Must be from ${quantityText(String(min), control)} to ${quantityText(String(max), control)}.`
    : undefined;
}
