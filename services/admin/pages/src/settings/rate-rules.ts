/** A rate limit, as the table shows it (http §8.1). */
export interface RateRow {
  readonly path: string;
  /** Empty for all requests. */
  readonly action: string;
  readonly audience: string;
  /** As it is typed. */
  readonly max: string;
  readonly seconds: string;
}

/** What a rule counts, by action. */
export const actions: Readonly<Record<string, string>> = {
  '': 'All requests',
  auth: 'Sign-ins',
  list: 'Lists',
  view: 'Single reads',
  create: 'Creates',
  update: 'Updates',
  delete: 'Deletes',
  subscribe: 'Live connections',
};

export const audiences: Readonly<Record<string, string>> = { all: 'Everyone', guest: 'Guests', auth: 'Signed in' };

const isRule = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && 'label' in value && typeof value.label === 'string';

/** Reads the setting's text. Undefined if it is not a list of rules. */
export function readRates(text: string): readonly RateRow[] | undefined {
  try {
    const rules: unknown = JSON.parse(text);
    if (!Array.isArray(rules) || !rules.every(isRule)) return undefined;
    return rules.map(({ label, max, windowMs, audience = 'all' }) => {
      const [, path = '', action = ''] = /^(.*?)(?::([a-z]+))?$/.exec(String(label)) ?? [];
      return { path, action, audience: String(audience), max: String(max), seconds: String(Number(windowMs) / 1000) };
    });
  } catch {
    return undefined;
  }
}

/** A text that is not a number stays as it is, and the server names it. */
const numberOf = (text: string, factor: number): unknown =>
  /^\d{1,12}(\.\d{1,3})?$/.test(text.trim()) ? Math.round(Number(text) * factor * 1000) / 1000 : text;

/** Returns the setting's text. */
export const writeRates = (rows: readonly RateRow[]): string =>
  JSON.stringify(
    rows.map(({ path, action, audience, max, seconds }) => ({
      label: action === '' ? path.trim() : `${path.trim()}:${action}`,
      max: numberOf(max, 1),
      windowMs: numberOf(seconds, 1000),
      audience,
    })),
  );
