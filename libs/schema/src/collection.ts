import type { Field } from './field.ts';
import type { SearchDefinition } from './search/search-index.ts';

export type CollectionType = 'base' | 'auth' | 'view';

/** The actions that rules decide about. */
export type RuleName = 'list' | 'view' | 'create' | 'update' | 'delete';

/**
 * null = public, '' = admins only, anything else is an expression (rules §1.2; in PocketBase null and '' are swapped).
 */
export type Rule = string | null;

/** A collection's rules. */
export type CollectionRules = Readonly<Record<RuleName, Rule>> & {
  /** Which accounts of an auth collection may sign in; none for `""` (auth §4.5). Left out, every account may. */
  readonly sign_in?: Rule;
  /** Which records' events go to webhooks with an owner (webhooks §9.2). Left out, none. */
  readonly webhook?: string;
};

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
  /** `btree` for comparisons and order, `trigram` for `~`, `search` for words. */
  readonly type: 'btree' | 'trigram' | 'search';
  /** What a search index searches; undefined for every other one. */
  readonly search?: SearchDefinition;
  /** Whether a search index does not hold every record yet. */
  readonly isBuilding?: true;
}

/** `full`: a write waits until the database has it on disk. `relaxed`: it waits only for its commit. */
export const durabilities = ['full', 'relaxed'] as const;
export type Durability = (typeof durabilities)[number];

/** What happens to records whose time is over: they are erased, or stay without their values. */
export const retainActions = ['delete', 'redact'] as const;

/** How long a collection keeps its records (privacy §3). */
export interface Retention {
  readonly days: number;
  /** From which time on the days count: a date field's id, `created_at` or `updated_at`. */
  readonly field: string;
  readonly action: (typeof retainActions)[number];
}

/** Which versions a collection keeps (history §7). At least one member is there. */
export interface HistoryLimits {
  /** Versions that are older go. */
  readonly days?: number;
  /** How many versions of a record stay. */
  readonly versions?: number;
}

/** A collection as every service sees it. */
export interface Collection {
  readonly id: string;
  readonly name: string;
  /** A second name, by which links from the system that it came from find it (collections §1.7). */
  readonly alias?: string;
  readonly type: CollectionType;
  readonly fields: readonly Field[];
  readonly viewQuery: string | null;
  readonly rules: CollectionRules;
  readonly historyEnabled: boolean;
  /** Whether its writes wait for the disk (collections §1.6); `full` by default. Only base collections may be `relaxed`. */
  readonly durability?: Durability;
  /** How old the sign-in of a user who writes may be, in seconds (collections §1.8); any age by default. */
  readonly freshSec?: number;
  /** How long records stay; for ever by default. */
  readonly retain?: Retention;
  /** Which versions stay; all by default. */
  readonly historyKeep?: HistoryLimits;
  /** The time columns that the view's query does not return; none by default. */
  readonly lacking?: readonly TimeColumn[];
  /** The indexes in addition to the system's; none by default. */
  readonly indexes?: readonly CollectionIndex[];
  readonly createdAtSec: number;
  readonly updatedAtSec: number;
}
