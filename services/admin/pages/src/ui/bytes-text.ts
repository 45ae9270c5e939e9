const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a byte count, such as `1.5 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toLocaleString('en', { maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1 })} ${units[power]}`;
}
