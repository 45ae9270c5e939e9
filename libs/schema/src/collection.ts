import type { Field } from './field.ts';

export type CollectionType = 'base' | 'auth' | 'view';

/** The actions that rules decide about. */
export type RuleName = 'list' | 'view' | 'create' | 'update' | 'delete';

/**
 * null = public, '' = admins only, anything else is an expression (rules §1.2; in PocketBase null and '' are swapped).
 */
export type Rule = string | null;

/** A column that every table has, and a view only if its query returns it. */
export type TimeColumn = 'created_at' | 'updated_at';

/** An index that an admin created (collections §10.2). */
export interface CollectionIndex {
  /** Its name in the database contains this id, so it survives renames. */
  readonly id: string;
  /** Unique within the collection, without case. */
  readonly name: string;
  /** Its columns in order: field ids, or names of system columns. */
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** `btree` for comparisons and order, `trigram` for `~`. */
  readonly type: 'btree' | 'trigram';
}

/** `full`: a write waits until the database has it on disk. `relaxed`: it waits only for its commit. */
export const durabilities = ['full', 'relaxed'] as const;
export type Durability = (typeof durabilities)[number];

/** A collection as every service sees it. */
export interface Collection {
  readonly id: string;
  readonly name: string;
  readonly type: CollectionType;
  readonly fields: readonly Field[];
  readonly viewQuery: string | null;
  readonly rules: Readonly<Record<RuleName, Rule>>;
  readonly historyEnabled: boolean;
  /** Whether its writes wait for the disk (collections §1.6); `full` by default. Only base collections may be `relaxed`. */
  readonly durability?: Durability;
  /** The time columns that the view's query does not return; none by default. */
  readonly lacking?: readonly TimeColumn[];
  /** The indexes in addition to the system's; none by default. */
  readonly indexes?: readonly CollectionIndex[];
  readonly createdAtSec: number;
  readonly updatedAtSec: number;
}
