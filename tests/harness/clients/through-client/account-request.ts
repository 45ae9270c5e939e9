import type { Wanted } from './client-call.ts';

/** A request to an account: its action and values. */
export interface AccountRequest {
  readonly collection: string;
  /** The method and the path below the collection. */
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly query: Wanted['query'];
  readonly hasToken: boolean;
}

/** Whether a body has exactly these members, as texts. */
export const hasTexts = (body: object, ...names: readonly string[]): boolean =>
  Object.keys(body).length === names.length && names.every((name) => typeof Reflect.get(body, name) === 'string');
