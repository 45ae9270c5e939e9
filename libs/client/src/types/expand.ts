import type { CollectionName, ExpandOf, RecordOf } from './schema.ts';

/**
 * A path's first step, its options, and the rest: `comments_via_post(limit:5).author` is `['comments_via_post',
 * 'limit:5', 'author']`.
 */
type Split<P extends string> = P extends `${infer Head}.${infer Rest}`
  ? Head extends `${string}(${string}`
    ? SplitOptions<P>
    : [Head, '', Rest]
  : SplitOptions<P>;

type SplitOptions<P extends string> = P extends `${infer Name}(${infer Options})${infer Rest}`
  ? [Name, Options, Rest extends `.${infer Next}` ? Next : never]
  : [P, '', never];

/** The collection to which a step leads. */
type Target<S, E, K extends keyof E> =
  NonNullable<E[K]> extends readonly [infer T] ? T & CollectionName<S> : NonNullable<E[K]> & CollectionName<S>;

/**
 * A path for `expand` if it exists, otherwise the possible paths. The first three steps are checked; the rest may be
 * anything.
 */
export type ExpandPath<S, C extends keyof S, P extends string, Depth extends 0[] = []> = Depth['length'] extends 3
  ? P
  : string extends P
    ? keyof ExpandOf<S, C> & string
    : P extends string
      ? CheckedPath<S, ExpandOf<S, C>, P, Split<P>, Depth>
      : never;

type CheckedPath<
  S,
  E,
  P extends string,
  Parts extends [string, string, string],
  Depth extends 0[],
> = Parts[0] extends keyof E
  ? [Parts[2]] extends [never]
    ? P
    : Parts[2] extends ExpandPath<S, Target<S, E, Parts[0]>, Parts[2], [...Depth, 0]>
      ? P
      : `${Parts[0]}.${ExpandPath<S, Target<S, E, Parts[0]>, Parts[2], [...Depth, 0]>}`
  : keyof E & string;

/** A record with the records that the paths `P` add under `expand`. */
export type Expanded<S, C extends keyof S, P extends string, Depth extends 0[] = []> = [P] extends [never]
  ? RecordOf<S, C>
  : RecordOf<S, C> & { readonly expand: Expansion<S, ExpandOf<S, C>, P, Depth> };

/** A single record may be absent, because it does not exist or the caller may not see it. A list may be empty. */
type Expansion<S, E, P extends string, Depth extends 0[]> = {
  readonly [K in Step<P> & keyof E as IsList<E, K> extends true ? K : never]: Value<S, E, K, P, Depth>;
} & {
  readonly [K in Step<P> & keyof E as IsList<E, K> extends true ? never : K]?: Value<S, E, K, P, Depth>;
};

type Step<P extends string> = P extends string ? Split<P>[0] : never;
type IsList<E, K extends keyof E> = E[K] extends readonly [unknown] ? true : false;

type Value<S, E, K extends keyof E, P extends string, Depth extends 0[]> = Depth['length'] extends 3
  ? unknown
  : NonNullable<E[K]> extends readonly [unknown]
    ? HasTotal<P, K> extends true
      ? { readonly items: readonly Next<S, E, K, P, Depth>[]; readonly total: number }
      : readonly Next<S, E, K, P, Depth>[]
    : Next<S, E, K, P, Depth>;

type Next<S, E, K extends keyof E, P extends string, Depth extends 0[]> = Expanded<
  S,
  Target<S, E, K>,
  RestOf<P, K>,
  [...Depth, 0]
>;

/** What follows the step `K` in each path that begins with it. */
type RestOf<P extends string, K> = P extends string ? (Split<P>[0] extends K ? Split<P>[2] : never) : never;

type HasTotal<P extends string, K> = true extends (
  P extends string
    ? Split<P> extends [K, `${string}total:1${string}`, string]
      ? true
      : never
    : never
)
  ? true
  : false;
