import fc from 'fast-check';
import { arbitraryOf } from '../fuzz/arbitrary-of.ts';
import { find, type Operation } from '../fuzz/operations.ts';
import type { JsonObject } from '../harness/json.ts';

/** Members for bodies with undeclared members: the account ones, and an unknown one. */
const openMembers = ['email', 'password', 'old_password', 'another'];

/** How many levels of a body are searched for places. */
const maxDepth = 4;

/** A member's path within a value. */
export type Path = readonly (string | number)[];

/** Returns where a body has texts: every text member in the schema, and undeclared ones. */
export function textPlaces(document: unknown, schema: JsonObject, path: Path = []): readonly Path[] {
  if (path.length > maxDepth) return [];
  const within = (inner: unknown, ...step: Path) =>
    textPlaces(document, (inner ?? {}) as JsonObject, [...path, ...step]);
  if (typeof schema.$ref === 'string') return within(find(document, schema.$ref.slice(2).split('/')));
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (choices.length > 0) return unique(choices.flatMap((choice) => within(choice)));
  const members = Object.entries((schema.properties ?? {}) as JsonObject);
  const types = [schema.type].flat();
  return unique([
    ...(path.length > 0 && (types.includes('string') || schema.type === undefined) ? [path] : []),
    ...members.flatMap(([name, member]) => within(member, name)),
    ...(types.includes('array') ? within(schema.items, 0) : []),
    ...(schema.additionalProperties ? openMembers.flatMap((name) => within(schema.additionalProperties, name)) : []),
  ]);
}

const unique = (paths: readonly Path[]): Path[] => [...new Map(paths.map((path) => [path.join('/'), path])).values()];

/** Returns a value that matches a schema, the same each time. */
export const fittingValue = (document: unknown, schema: JsonObject): unknown =>
  fc.sample(arbitraryOf(document, schema, 0), { seed: 14, numRuns: 1 })[0];

/** Returns the value with `put` at a path. */
export function withValueAt(value: unknown, [step, ...rest]: Path, put: unknown): unknown {
  if (step === undefined) return put;
  if (typeof step === 'number') return [withValueAt(undefined, rest, put)];
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...object, [step]: withValueAt(Reflect.get(object, step), rest, put) };
}

/** Returns an operation's path with values for its parameters, and a query. */
export function targetOf(
  { path }: Operation,
  values: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? 'x');
  const search = Object.entries(query).map(([name, text]) => `${name}=${text}`);
  return search.length === 0 ? filled : `${filled}?${search.join('&')}`;
}
