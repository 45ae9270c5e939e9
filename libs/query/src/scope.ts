import type { Collection, Field } from '@recordbus/schema';

/** The collections that expressions may name. */
export interface QuerySchema {
  findCollection(name: string): Collection | undefined;
  /** Whether expressions cannot name the field; `isHidden` of `member.ts` when not given. */
  isHidden?(field: Field): boolean;
  /** Collation, quoted, that folds text to lower case; `unicodeCollation` when not given. */
  readonly collation?: string | undefined;
}

/** What an expression is compiled for. */
export interface Scope {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  /**
   * The author of the expression. A rule knows the request and crosses into any collection. A client's filter knows neither the
   * request nor, over a relation, records that the target's list rule hides (filters §7.3); an admin's sees all.
   */
  readonly audience: 'rule' | 'client' | 'admin';
}
