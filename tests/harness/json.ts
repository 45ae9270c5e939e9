export type JsonObject = { readonly [name: string]: unknown };

/** Returns the value at a dotted path in a JSON document ("data.0.id"); undefined when there is none. */
export const at = (json: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), json);

/** Returns the text at a path. Throws when there is none. */
export const textAt = (json: unknown, path: string): string =>
  checked(json, path, 'a string', (value): value is string => typeof value === 'string');

/** Returns the number at a path. Throws when there is none. */
export const numberAt = (json: unknown, path: string): number =>
  checked(json, path, 'a number', (value): value is number => typeof value === 'number');

/** Returns the object at a path. Throws when there is none. */
export const objectAt = (json: unknown, path: string): JsonObject => checked(json, path, 'an object', isObject);

/** Returns the list of objects at a path. Throws when there is none. */
export const listAt = (json: unknown, path: string): readonly JsonObject[] =>
  checked(json, path, 'a list', (value): value is JsonObject[] => Array.isArray(value));

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

function checked<T>(json: unknown, path: string, what: string, fits: (value: unknown) => value is T): T {
  const value = at(json, path);
  if (!fits(value)) throw new Error(`no ${what} at ${path} of ${JSON.stringify(json)}`);
  return value;
}
