// Created once, since creating a formatter takes longer than formatting a hundred dates.
const exactFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clockFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** Formats unix milliseconds in local time, with seconds. */
export const exactTime = (atMs: number): string => exactFormat.format(atMs);

/** Formats the local time of day, with milliseconds. */
export const clockTime = (atMs: number): string =>
  `${clockFormat.format(atMs)}.${String(new Date(atMs).getMilliseconds()).padStart(3, '0')}`;

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** Formats a duration briefly, such as `3 min` or `250 ms`. */
export function durationText(ms: number): string {
  const unit = units.find(([length]) => ms >= length);
  if (!unit) return `${Math.max(0, Math.round(ms))} ms`;
  const [length, name] = unit;
  const count = ms / length;
  return `${count < 10 && length > 1 && count % 1 >= 0.05 ? count.toFixed(1) : Math.round(count)} ${name}`;
}

/** Formats the time since a moment, such as `3 min ago`. */
export const timeAgo = (atMs: number, nowMs = Date.now()): string =>
  nowMs - atMs < 1500 ? 'now' : `${durationText(nowMs - atMs).replace(/\.\d+/, '')} ago`;
