import { invalidArgument } from '../error.ts';
import { Filter } from './filter.ts';
import { operandOf, textOf } from './operand.ts';

/** Joins filters. Each is in parentheses, so no operator binds across them. */
const join = (operator: string, empty: string, filters: readonly (Filter | undefined | false)[]): Filter => {
  const texts = filters.flatMap((filter) => (filter ? [filter.text] : []));
  if (texts.length === 0) return new Filter(empty);
  return new Filter(texts.length === 1 ? (texts[0] ?? '') : texts.map((text) => `(${text})`).join(` ${operator} `));
};

/**
 * The members in `f` in addition to the fields. They hide fields with the same names, which `f.field(name)` reaches.
 */
const tools: Readonly<Record<string, unknown>> = {
  and: (...filters: readonly Filter[]) => join('&&', '1 = 1', filters),
  or: (...filters: readonly Filter[]) => join('||', '1 = 0', filters),
  not: (filter: Filter) => new Filter(`not (${filter.text})`),
  count: (path: unknown) => operandOf(`count(${textOf(path)})`),
  distance: (path: unknown, lat: number, lng: number) =>
    operandOf(`distance(${textOf(path)}, ${textOf(lat)}, ${textOf(lng)})`),
  exists: (collection: string, build: (fields: unknown) => Filter) =>
    new Filter(`exists(${collection}, ${build(fieldsProxy).text})`),
  field: (name: string) => operandOf(name),
};

/** Any collection's fields: each name is an operand. */
const fieldsProxy: unknown = new Proxy(Object.create(null), {
  get: (_, name) => (typeof name === 'symbol' ? undefined : Object.hasOwn(tools, name) ? tools[name] : operandOf(name)),
});

/** The argument `filter`, without types. */
export type AnyFilter = string | Filter | ((fields: never) => Filter) | undefined;

/** A filter's text. Throws if a function returns no filter, since that would list everything. */
export function filterText(filter: AnyFilter): string | undefined {
  const built: unknown = typeof filter === 'function' ? filter(fieldsProxy as never) : filter;
  if (built instanceof Filter || typeof built === 'string') return String(built);
  if (filter !== undefined) throw invalidArgument('A filter is a text, f`…`, or a function that returns one.');
  return undefined;
}
