import type { Client } from '@recordbus/client';

/** A scenario's parsed request. */
export interface Wanted {
  readonly method: string;
  readonly resource: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasToken: boolean;
}

type AnyClient = Client<{
  readonly [collection: string]: {
    readonly record: { readonly id: string; readonly [field: string]: unknown };
    readonly create: object;
    readonly update: object;
    readonly expand: { readonly [name: string]: string };
  };
}>;

/** A client call that matches a request, and its expected result for an answer. */
export interface ClientCall {
  run(client: AnyClient): Promise<unknown>;
  expected(json: unknown): unknown;
}

/** An answer's `data`. */
export const dataOf = (json: unknown): unknown => Object(json).data;
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Blob);
/** Whether an object has only these names. */
export const hasOnly = (object: object, names: readonly string[]): boolean =>
  Object.keys(object).every((name) => names.includes(name));
