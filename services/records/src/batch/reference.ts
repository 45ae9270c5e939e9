import type { Collection } from '@recordbus/schema';

/** A reference to an earlier operation's result: `{"$ref": "order.id"}` (batch §3). */
export interface Reference {
  /** The operation's `as`. */
  readonly name: string;
  /** The members that lead to the value. */
  readonly path: readonly string[];
  /** As the client sent it. */
  readonly text: string;
}

const key = '$ref';

/** Whether a value is a reference: an object with the one member `$ref`, a text. */
export function isReference(value: unknown): value is { readonly $ref: string } {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
  return Object.keys(value).length === 1 && typeof Reflect.get(value, key) === 'string';
}

/** Reads a reference. */
export function readReference({ $ref: text }: { readonly $ref: string }): Reference {
  const [name = '', ...path] = text.split('.');
  return { name, path, text };
}

/** Replaces a reference; called with the field that has it. */
type Replace = (reference: Reference, field: string) => unknown;

/**
 * Replaces the references in a body: fields' values, and values within their lists and operators. On json fields an
 * object is a value. Returns the same body if it has none.
 */
export function replaceReferences(
  { fields }: Pick<Collection, 'fields'>,
  body: Readonly<Record<string, unknown>>,
  replace: Replace,
): Readonly<Record<string, unknown>> {
  const values = new Set(fields.filter(({ type }) => type === 'json').map(({ name }) => name));
  let replaced: Map<string, unknown> | undefined;
  for (const [name, value] of Object.entries(body)) {
    if (values.has(name) || typeof value !== 'object' || value === null) continue;
    const next = replaceIn(value, (reference) => replace(reference, name));
    if (next === value) continue;
    replaced ??= new Map(Object.entries(body));
    replaced.set(name, next);
  }
  return replaced ? Object.fromEntries(replaced) : body;
}

/**
 * Replaces the references in a value, in one pass that copies only values with references. The nesting of bodies is
 * bounded (http §2.1), and so is the recursion.
 */
function replaceIn(value: unknown, replace: (reference: Reference) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isReference(value)) return replace(readReference(value));
  return Array.isArray(value) ? replaceInList(value, replace) : replaceInObject(value, replace);
}

function replaceInList(list: readonly unknown[], replace: (reference: Reference) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, inner] of list.entries()) {
    const next = replaceIn(inner, replace);
    if (next === inner) continue;
    changed ??= [...list];
    changed[index] = next;
  }
  return changed ?? list;
}

function replaceInObject(object: object, replace: (reference: Reference) => unknown): object {
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(object)) {
    const inner: unknown = Reflect.get(object, name);
    const next = replaceIn(inner, replace);
    if (next === inner) continue;
    changed ??= new Map(Object.entries(object));
    changed.set(name, next);
  }
  return changed ? Object.fromEntries(changed) : object;
}
