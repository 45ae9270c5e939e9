import type { RequestValues } from './request-values.ts';

/** A parameter's source: a literal, a value from each request, or a value for each run. */
type Binding =
  | { readonly value: unknown }
  | { readonly read: (request: RequestValues) => unknown; readonly key: string }
  | { readonly name: string; readonly key?: string };

/** Numbers a statement's parameters and collects their values. */
export interface Parameters {
  /** Adds a fixed value. Returns its SQL: `$3::text`. */
  fixed(value: unknown, sqlType: string): string;
  /** Adds a request value, once for each key and type. Returns its SQL. */
  ofRequest(key: string, sqlType: string, read: (request: RequestValues) => unknown): string;
  /** Returns an alias for a table that no other part of the statement uses. */
  alias(): string;
  /** How many aliases are in use. */
  readonly aliases: number;
  /** Notes that the statement reads the caller's account row. */
  noteAccount(): void;
  /** Whether it does. */
  readonly readsAccount: boolean;
  /** Returns all parameters' values in order. Throws when one depends on the request and none is given. */
  values(request?: RequestValues): unknown[];
}

/** Parameters whose values each run gives, by the names in `Given`. */
export interface NamedParameters<Given extends object> extends Parameters {
  /** Adds a name's value, once for each name. Returns its SQL: `$3::text`. */
  named(name: keyof Given & string, sqlType: string): string;
  /** Adds one value from a name's map; null for a key that the map lacks. Returns its SQL. */
  member(name: MapsOf<Given>, key: string, sqlType: string): string;
  /** Returns all parameters' values in order. Throws when one is undefined. */
  valuesFrom(given: Given, request?: RequestValues): unknown[];
}

/** The names in `Given` whose values are maps. */
type MapsOf<Given> = {
  [Name in keyof Given & string]: Given[Name] extends ReadonlyMap<string, unknown> ? Name : never;
}[keyof Given & string];

/** Creates parameters for a statement without values by name. */
export const createParameters = (): Parameters => createNamedParameters<Record<never, never>>();

/** Creates a whole statement's parameters. No part of it counts numbers. */
export function createNamedParameters<Given extends object>(): NamedParameters<Given> {
  const bindings: Binding[] = [];
  const placed = new Map<string, number>();
  let aliases = 0;
  let readsAccount = false;
  const add = (binding: Binding) => bindings.push(binding);
  const addOnce = (id: string, binding: Binding) => {
    const number = placed.get(id) ?? add(binding);
    placed.set(id, number);
    return number;
  };
  const valuesFrom = (given: object, request: RequestValues | undefined) =>
    bindings.map((binding) => boundValue(binding, given, request));

  return {
    fixed: (value, sqlType) => `$${add({ value })}::${sqlType}`,
    ofRequest: (key, sqlType, read) =>
      `$${addOnce(JSON.stringify(['request', key, sqlType]), { read, key })}::${sqlType}`,
    named: (name, sqlType) => `$${addOnce(JSON.stringify(['named', name]), { name })}::${sqlType}`,
    member: (name, key, sqlType) => `$${addOnce(JSON.stringify(['member', name, key]), { name, key })}::${sqlType}`,
    alias() {
      aliases += 1;
      return `hop${aliases}`;
    },
    get aliases() {
      return aliases;
    },
    noteAccount() {
      readsAccount = true;
    },
    get readsAccount() {
      return readsAccount;
    },
    values: (request) => valuesFrom({}, request),
    valuesFrom,
  };
}

function boundValue(binding: Binding, given: object, request: RequestValues | undefined): unknown {
  if ('value' in binding) return binding.value;
  if ('read' in binding) {
    if (!request) throw new Error(`the statement needs ${binding.key} of a request`);
    return binding.read(request);
  }
  const value: unknown = (given as Readonly<Record<string, unknown>>)[binding.name];
  if (value === undefined) throw new Error(`the statement needs a value for ${binding.name}`);
  return binding.key === undefined ? value : ((value as ReadonlyMap<string, unknown>).get(binding.key) ?? null);
}
