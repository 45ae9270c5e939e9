import type { Expanded } from './expand.ts';
import type { RecordOf } from './schema.ts';

/** The names in `fields`: record members, `*`, and paths into `expand`. */
export type FieldName<S, C extends keyof S> = (keyof RecordOf<S, C> & string) | '*' | 'expand' | `expand.${string}`;

/** A record in an answer, with expansions for the paths `P`, and only the members `F` if there are any. */
export type Row<S, C extends keyof S, P extends string, F extends string> = [F] extends [never]
  ? Expanded<S, C, P>
  : '*' extends F
    ? Expanded<S, C, P>
    : Pick<Expanded<S, C, P>, Extract<keyof Expanded<S, C, P>, F | 'id' | ExpandMember<F>>>;

type ExpandMember<F extends string> = F extends `expand.${string}` ? 'expand' : never;
