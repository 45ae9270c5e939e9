import type { RequestValues } from './request-values.ts';

/** What a parameter stands for: a literal, or something that each request brings anew. */
type Binding =
  | { readonly value: unknown }
  | { readonly read: (request: RequestValues) => unknown; readonly key: string };

/** Gives out the numbers of a statement's parameters and knows what stands in each. */
export interface Parameters {
  /** Places a fixed value and gives its SQL: `$3::text`. */
  fixed(value: unknown, sqlType: string): string;
  /** Places a value of the request; one with the same key and type is placed once. */
  ofRequest(key: string, sqlType: string, read: (request: RequestValues) => unknown): string;
  /** An alias for a table that no other part of the statement has. */
  alias(): string;
  /** How many aliases have been given out. */
  readonly aliases: number;
  /** The number that the next parameter would get. */
  readonly next: number;
  /** Does any parameter depend on the request? If not, `values` needs none. */
  readonly needRequest: boolean;
  /**
   * The values of all placed parameters in their order; to be appended to those that the statement has before.
   * Throws when there are values of the request among them and no request is given.
   */
  values(request?: RequestValues): unknown[];
}

/** Starts giving out parameters; `first` is the number after those that the statement has already. */
export function createParameters(first = 1): Parameters {
  const bindings: Binding[] = [];
  const placed = new Map<string, number>();
  let aliases = 0;
  const add = (binding: Binding) => first - 1 + bindings.push(binding);

  return {
    fixed: (value, sqlType) => `$${add({ value })}::${sqlType}`,
    ofRequest(key, sqlType, read) {
      const typed = `${key}::${sqlType}`;
      const number = placed.get(typed) ?? add({ read, key });
      placed.set(typed, number);
      return `$${number}::${sqlType}`;
    },
    alias() {
      aliases += 1;
      return `hop${aliases}`;
    },
    get aliases() {
      return aliases;
    },
    get next() {
      return first + bindings.length;
    },
    get needRequest() {
      return bindings.some((binding) => 'read' in binding);
    },
    values: (request) =>
      bindings.map((binding) => {
        if ('value' in binding) return binding.value;
        if (!request) throw new Error(`the statement needs ${binding.key} of a request`);
        return binding.read(request);
      }),
  };
}
