import type { Collection, Field } from '@recordbus/schema';

/** The collections that expressions are about. */
export interface QuerySchema {
  findCollection(name: string): Collection | undefined;
  /** Is this field kept from expressions? `isSealed` when it is not given. */
  isHidden?(field: Field): boolean;
  /** Collation, quoted, by which text is folded to lower case; `unicodeCollation` when it is not given. */
  readonly collation?: string | undefined;
}

/** What an expression is read against. */
export interface Scope {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  /**
   * Who wrote it. A rule knows the request and crosses into any collection. A client's filter knows neither the
   * request nor, over a relation, records that the target's list rule hides (contract §2); an admin's has them all.
   */
  readonly writtenBy: 'rule' | 'client' | 'admin';
}
