import type { Collection, Field } from '@recordbus/schema';

/** The collections that expressions may name. */
export interface QuerySchema {
  findCollection(name: string): Collection | undefined;
  /** Whether expressions cannot name the field; `isHidden` of `member.ts` by default. */
  isHidden?(field: Field): boolean;
  /** Collation, quoted, that folds text to lower case; `unicodeCollation` by default. */
  readonly collation?: string | undefined;
}

/** What an expression is compiled for. */
export interface Scope {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  /**
   * The kind of expression. A rule reads the request and crosses into any collection. A client's filter reads no value
   * of the request, and over a relation it sees no record that the target's list rule hides (filters §7.3). An admin's
   * filter sees all records.
   */
  readonly audience: 'rule' | 'client' | 'admin';
}
