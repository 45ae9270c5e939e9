/** In an expected JSON document, matches every value that fits. */
export class Matcher {
  readonly description: string;
  readonly fits: (value: unknown) => boolean;

  constructor(description: string, fits: (value: unknown) => boolean) {
    this.description = description;
    this.fits = fits;
  }
}

/** Allowed difference between a time set by the stack and this machine's clock, in seconds. */
const clockToleranceSec = 60;

const textThat = (description: string, pattern: RegExp) =>
  new Matcher(description, (value) => typeof value === 'string' && pattern.test(value));

/** Matchers for values that are not known exactly. */
export const is = {
  anything: new Matcher('anything', (value) => value !== undefined),
  text: textThat('a text', /./),
  number: new Matcher('a number', (value) => typeof value === 'number'),
  uuid: textThat('a UUID', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  /** Record ids are UUIDv7 (records §2.2). */
  uuidV7: textThat('a UUIDv7', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  /** A version: the write's second, and its count within the second unless it was the first (records §8.1). */
  version: textThat('a version', /^\d+(\.[1-9]\d*)?$/),
  etag: textThat('the ETag of a record', /^W\/"\d+(\.[1-9]\d*)?"$/),
  code: textThat('a stable_snake_case code', /^[a-z]+(_[a-z]+)*$/),
  now: new Matcher(
    'unix seconds of now',
    (value) => Number.isInteger(value) && Math.abs(Number(value) - Date.now() / 1000) < clockToleranceSec,
  ),
  matching: (pattern: RegExp) => textThat(String(pattern), pattern),
  oneOf: (...values: readonly unknown[]) =>
    new Matcher(`one of ${JSON.stringify(values)}`, (value) => values.includes(value)),
  /** An object with at least these members. */
  containing: (members: Readonly<Record<string, unknown>>) =>
    new Matcher(
      `an object with ${JSON.stringify(members)}`,
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        Object.entries(members).every(
          ([name, expected]) => differences(Reflect.get(value, name), expected).length === 0,
        ),
    ),
  /** A list with at least one element that fits. */
  listWith: (expected: unknown) =>
    new Matcher(
      `a list with ${JSON.stringify(expected)}`,
      (value) => Array.isArray(value) && value.some((item) => differences(item, expected).length === 0),
    ),
  /** A text that is a fitting document's JSON. */
  jsonOf: (expected: unknown) =>
    new Matcher(`JSON of ${JSON.stringify(expected)}`, (value) => {
      if (typeof value !== 'string') return false;
      return differences(JSON.parse(value), expected).length === 0;
    }),
};

/** Returns the differences between two JSON documents, a line for each place; none when the actual one fits. */
export function differences(actual: unknown, expected: unknown, path = '$'): string[] {
  if (expected instanceof Matcher)
    return expected.fits(actual) ? [] : [`${path}: ${JSON.stringify(actual)} is not ${expected.description}`];
  if (!isComposite(actual) || !isComposite(expected) || Array.isArray(actual) !== Array.isArray(expected))
    return Object.is(actual, expected)
      ? []
      : [`${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`];
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)]);
  return [...names].flatMap((name) =>
    differences(Reflect.get(actual, name), Reflect.get(expected, name), `${path}.${name}`),
  );
}

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;
