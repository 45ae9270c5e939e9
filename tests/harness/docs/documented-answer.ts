import { differences, is, Matcher } from '../matching.ts';

/** Returns the differences between an answer's body and the page's. */
export const bodyDifferences = (documented: string, actual: unknown): readonly string[] =>
  typeof actual === 'string'
    ? differences(actual.replaceAll('\r\n', '\n').trimEnd(), matcherOf('', documented))
    : differences(actual, expectedOf(documented));

/** Returns the differences between a header and the page's. The seconds that remain depend on when it is read. */
export const headerDifferences = (name: string, documented: string, actual: unknown): readonly string[] =>
  differences(actual, /^(Retry-After|RateLimit-Reset)$/.test(name) ? is.matching(/^\d+$/) : matcherOf('', documented));

/**
 * Turns a page's JSON into the pattern that the real answer has to match. Within a text, `…` matches any text. As the
 * last member or entry it stands for any others. `0198…` matches every id. Times match the present.
 */
export const expectedOf = (documented: string): unknown =>
  JSON.parse(documented.replace(/…(?=\s*\})/g, '"…": "…"').replace(/…(?=\s*\])/g, '"…"'), matcherOf);

const anyText = new Matcher('a text', (value) => typeof value === 'string');

function matcherOf(key: string, value: unknown): unknown {
  if (typeof value === 'number' && /^(expires|since|until)$|(expires_at|_until|\bat_ms|_at_ms|duration_ms)$/.test(key))
    return is.number;
  if (typeof value === 'number' && /^(at|created|updated|started|finished|timestamp)$|_at$/.test(key)) return is.now;
  // A background task that failed once stays degraded until its next run.
  if (key === 'background' && value === 'ok') return is.oneOf('ok', 'degraded');
  if (typeof value === 'string') return value.includes('…') ? textMatcher(value) : value;
  if (Array.isArray(value) && value.at(-1) === anyText) return startingWith(value.slice(0, -1));
  if (typeof value !== 'object' || value === null || !('…' in value)) return value;
  const { '…': _others, ...members } = value;
  return is.containing(members);
}

function textMatcher(text: string): Matcher {
  if (text === '…') return anyText;
  if (text === '0198…') return is.uuidV7;
  const pattern = text
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return is.matching(new RegExp(`^${pattern}$`, 's'));
}

const startingWith = (entries: readonly unknown[]): Matcher =>
  new Matcher(
    `a list that begins with ${JSON.stringify(entries)}`,
    (value) => Array.isArray(value) && differences(value.slice(0, entries.length), entries).length === 0,
  );

/** Returns the texts in an answer's `data` by their paths: `token`, `record.id`. */
export function textsIn(json: unknown): readonly (readonly [path: string, text: string])[] {
  const data = typeof json === 'object' && json !== null && 'data' in json ? json.data : undefined;
  return leavesOf(data, '');
}

function leavesOf(value: unknown, path: string): readonly (readonly [path: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, path ? `${path}.${name}` : name));
}
