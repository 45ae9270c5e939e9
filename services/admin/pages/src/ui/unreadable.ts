/**
 * An input's value while its text cannot be read. It keeps what was typed. No request can carry it, so a form never
 * saves an older value instead.
 */
export class Unreadable {
  readonly text: string;
  /** Says what is wrong, for the user. */
  readonly reason: string;
  /** The value before, if the input still shows it. */
  readonly kept: unknown;

  constructor(text: string, reason: string, kept?: unknown) {
    this.text = text;
    this.reason = reason;
    this.kept = kept;
  }

  toJSON(place: string): never {
    throw new UnreadableError([place]);
  }
}

/** Says which of a form's values cannot be read. */
export class UnreadableError extends Error {
  readonly places: readonly string[];

  constructor(places: readonly string[]) {
    super('a value cannot be read');
    this.places = places;
  }
}

/** Drafts nest inputs no deeper. What is below is a JSON value that was read. */
const deepest = 6;

/** Returns the places of the values that cannot be read, such as `fields.title.options.min`. */
export function unreadablePlaces(values: unknown, depth = 0): readonly string[] {
  if (depth > deepest || typeof values !== 'object' || values === null || values instanceof Blob) return [];
  return Object.entries(values).flatMap(([key, value]) => {
    if (value instanceof Unreadable) return [key];
    const name = Array.isArray(values) && typeof value?.name === 'string' && value.name !== '' ? value.name : key;
    return unreadablePlaces(value, depth + 1).map((place) => `${name}.${place}`);
  });
}

/** Returns a form's values, to send. Throws an `UnreadableError` if one cannot be read. */
export function readable<T>(values: T): T {
  const places = unreadablePlaces(values);
  if (places.length > 0) throw new UnreadableError(places);
  return values;
}

/** Returns what is wrong with an input's value. Undefined if it can be read. */
export const reasonOf = (value: unknown): string | undefined =>
  value instanceof Unreadable ? value.reason : undefined;
