import type { Field } from './field.ts';

export type CollectionType = 'base' | 'auth' | 'view';

/** What a rule can be asked for. */
export type RuleName = 'list' | 'view' | 'create' | 'update' | 'delete';

/** null = public, '' = admins only, anything else an expression (interface §2.1; PocketBase has it the other way round). */
export type Rule = string | null;

/** A column that a table has without a field, and a view only if its query gives it. */
export type TimeColumn = 'created_at' | 'updated_at';

/** An index that an admin asked for (contract §8). */
export interface CollectionIndex {
  /** Its name in the database is made of this, so it outlives renames. */
  readonly id: string;
  /** Unique within the collection, without case. */
  readonly name: string;
  /** What it is over, in its order: ids of fields, or names of system columns. */
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** `btree` for comparisons and order, `trigram` for `~`. */
  readonly type: 'btree' | 'trigram';
}

/** A collection as every service sees it. */
export interface Collection {
  readonly id: string;
  readonly name: string;
  readonly type: CollectionType;
  readonly fields: readonly Field[];
  readonly viewQuery: string | null;
  readonly rules: Readonly<Record<RuleName, Rule>>;
  readonly historyEnabled: boolean;
  /** The time columns that the query of a view does not give; none when left out. */
  readonly lacking?: readonly TimeColumn[];
  /** Besides those that the system makes for itself; none when left out. */
  readonly indexes?: readonly CollectionIndex[];
  readonly createdAtSec: number;
  readonly updatedAtSec: number;
}
