/** One extension route's types, as `recordbus types` writes them. */
export interface RouteTypes {
  readonly params: object;
  readonly query: object;
  readonly body: unknown;
  readonly answer: unknown;
}

/** The constraint on `Routes`: each route's types by its method and path. */
export type RoutesOf<R> = { readonly [K in keyof R]: RouteTypes };

type Member<R, K extends keyof R, M extends keyof RouteTypes> = R[K] extends RouteTypes ? R[K][M] : never;

/** Leaves out a member whose type is undefined. */
type Given<Name extends string, T> = T extends undefined
  ? unknown
  : keyof T extends never
    ? { readonly [N in Name]?: T }
    : Record<never, never> extends T
      ? { readonly [N in Name]?: T }
      : { readonly [N in Name]: T };

/** A route's input: its parameters, query and body. */
export type RouteInput<R, K extends keyof R> = Given<'params', Member<R, K, 'params'>> &
  Given<'query', Member<R, K, 'query'>> &
  Given<'body', Member<R, K, 'body'>> & {
    readonly signal?: AbortSignal | undefined;
    /** The idempotency key, for routes that take one; `true` makes a new one. */
    readonly idempotencyKey?: string | true | undefined;
  };

/** The `data` in a route's answer. */
export type RouteAnswer<R, K extends keyof R> = Member<R, K, 'answer'>;
