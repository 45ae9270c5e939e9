import type { Expanded } from './expand.ts';
import type { FileFieldOf, RecordOf } from './schema.ts';

/** The names in `fields`: record members, `*`, `_files`, and paths into `_files` and `expand`. */
export type FieldName<S, C extends keyof S> =
  | (keyof RecordOf<S, C> & string)
  | '*'
  | FilesName
  | 'expand'
  | `expand.${string}`;

type FilesName = '_files' | `_files.${string}`;

/** What is known about a stored file. */
export interface FileDetails {
  /** The stored name, which the record has. */
  readonly name: string;
  /** The name that the sender gave it; null for an older file, and for one without a name. */
  readonly original: string | null;
  /** In bytes; null for an older file. */
  readonly size: number | null;
  /** The content type; null for an older file. */
  readonly type: string | null;
}

/** What `_files` in `fields` adds to a record. */
export interface FilesMember<S, C extends keyof S> {
  /** By file field, what is known about its files, in their order. Without fields that the caller may not view. */
  readonly _files: { readonly [Field in FileFieldOf<S, C>]?: readonly FileDetails[] };
}

/** A record in an answer, with expansions for the paths `P`, and only the members `F` if there are any. */
export type Row<S, C extends keyof S, P extends string, F extends string> = [Extract<F, FilesName>] extends [never]
  ? Shown<S, C, P, F>
  : Shown<S, C, P, F> & FilesMember<S, C>;

type Shown<S, C extends keyof S, P extends string, F extends string> = [F] extends [never]
  ? Expanded<S, C, P>
  : '*' extends F
    ? Expanded<S, C, P>
    : Pick<Expanded<S, C, P>, Extract<keyof Expanded<S, C, P>, F | 'id' | ExpandMember<F>>>;

type ExpandMember<F extends string> = F extends `expand.${string}` ? 'expand' : never;
