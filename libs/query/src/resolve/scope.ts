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
   * The kind of expression. A rule may read the request and every collection. A client's filter reads no request value,
   * and sees no record in another collection that its view rule hides (filters §7.3). An admin's filter sees all
   * records.
   */
  readonly audience: 'rule' | 'client' | 'admin';
  /** The caller's account collection; undefined for guests. The SQL depends on it, and not on the caller. */
  readonly caller?: Collection | undefined;
  /** In a rule about webhooks' events: the collection of the records that own the webhooks. */
  readonly owner?: Collection | undefined;
  /** Within `exists`: the outer record's scope. */
  readonly outer?: Scope;
  /** The first segments that lead to other rows than the expression's own: `record` in a webhook's filter. */
  readonly roots?: ReadonlyMap<string, Root>;
}

/** A row that an expression names, and how many targets outwards it is. */
interface Root {
  readonly scope: Scope;
  readonly up: number;
}

/** The whole expression's scope. */
export const outermost = (scope: Scope): Scope => (scope.outer ? outermost(scope.outer) : scope);
