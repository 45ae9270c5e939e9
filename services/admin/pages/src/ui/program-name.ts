const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** Limits the untrusted user agent. The program's name is at its beginning. */
const longestAgent = 300;

/** Names a program by its user agent: `Firefox on Linux` for a browser, otherwise the user agent itself. */
export function programName(agent: string | null): string {
  const text = (agent ?? '').slice(0, longestAgent);
  const find = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([mark]) => text.includes(mark))?.[1];
  const browser = text.startsWith('Mozilla/') ? find(browsers) : undefined;
  if (browser === undefined) return text || 'Unknown client';
  const system = find(systems);
  return system ? `${browser} on ${system}` : browser;
}
