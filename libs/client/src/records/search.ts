import type { FieldName, Row } from '../types/fields.ts';
import type { CollectionName, RecordOf } from '../types/schema.ts';
import type { ListOptions, Page } from './options.ts';

/** A field, or a path into a JSON field. */
type SearchedName<S, C extends keyof S> = (keyof RecordOf<S, C> & string) | (string & {});

/** What a search adds to a list's options. */
export interface SearchOptions<S, C extends keyof S> extends Omit<ListOptions<S, C>, 'ids'> {
  /** `any`: one of the words is enough. */
  readonly searchMode?: 'all' | 'any' | undefined;
  /** The index's fields to search; all by default. */
  readonly searchFields?: readonly SearchedName<S, C>[] | undefined;
  /** The index's fields in which found words are marked. */
  readonly highlight?: readonly SearchedName<S, C>[] | undefined;
  /** The fields whose values are counted. */
  readonly facets?: readonly (keyof RecordOf<S, C> & string)[] | undefined;
  /** With `near`, how much the vectors count: 0 the text only, 1 the vectors only, 0.5 by default. */
  readonly hybrid?: number | undefined;
}

/** What a search adds to each record. */
export interface SearchMembers {
  /** How well the record fits, from 0 to 1. */
  readonly _score: number;
  /** By field, a part of its text as HTML, with found words in `<mark>`. Only with `highlight`. */
  readonly _highlight?: Readonly<Record<string, string>>;
}

/** The names in a search's `fields`. */
export type SearchFieldName<S, C extends keyof S> = FieldName<S, C> | keyof SearchMembers;

/** The members of a search that `fields` shows. */
type ShownMembers<F extends string> = [F] extends [never]
  ? SearchMembers
  : '*' extends F
    ? SearchMembers
    : Pick<SearchMembers, Extract<keyof SearchMembers, F>>;

/** A record that a search found. */
export type Found<S, C extends keyof S, P extends string, F extends string> = Row<S, C, P, F> & ShownMembers<F>;

/** A page of a search's records. */
export interface SearchPage<R, N extends string = string> extends Page<R> {
  /** By field and value, how many records have it. Only with `facets`. */
  readonly facets?: Readonly<Partial<Record<N, Readonly<Record<string, number>>>>>;
  /** The fields whose facets are not complete. */
  readonly more?: readonly N[];
  /** How many records were ranked, if not all. */
  readonly ranked?: number;
  /** By typo, the words that were searched instead. */
  readonly corrected?: Readonly<Record<string, readonly string[]>>;
}

/** One of several searches. */
export type SearchQuery<S> = {
  readonly [C in CollectionName<S>]: SearchOptions<S, C> & {
    readonly collection: C;
    readonly search: string;
    readonly expand?: readonly string[] | undefined;
    readonly fields?: readonly SearchFieldName<S, C>[] | undefined;
  };
}[CollectionName<S>];

/** Why one of several searches is refused. */
export interface SearchRefusal {
  readonly status: number;
  readonly error: string;
  readonly code: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

type FieldsOf<Q> = Q extends { readonly fields: readonly (infer F extends string)[] } ? F : never;
type CollectionOf<S, Q> = Q extends { readonly collection: infer C extends CollectionName<S> } ? C : never;

/** The answers to several searches, in their order. */
export type SearchAnswers<S, Q extends readonly unknown[]> = {
  readonly [K in keyof Q]:
    | ({ readonly status: 200 } & SearchPage<Found<S, CollectionOf<S, Q[K]>, never, FieldsOf<Q[K]>>>)
    | SearchRefusal;
};
