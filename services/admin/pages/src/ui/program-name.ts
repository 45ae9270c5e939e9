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

/** A user agent is a text of strangers, and what names the program is at its beginning. */
const longestAgent = 300;

/** Returns the name of a program by its user agent: of a browser such as `Firefox on Linux`, of others as they say it. */
export function programName(agent: string | null): string {
  const text = (agent ?? '').slice(0, longestAgent);
  const find = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([mark]) => text.includes(mark))?.[1];
  const browser = text.startsWith('Mozilla/') ? find(browsers) : undefined;
  if (browser === undefined) return text || 'unknown program';
  const system = find(systems);
  return system ? `${browser} on ${system}` : browser;
}
