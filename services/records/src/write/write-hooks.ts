import type { Query } from '@recordbus/database';
import type { Collection, ColumnValues } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';

export type Operation = 'create' | 'update' | 'delete';

type Body = Readonly<Record<string, unknown>>;

/** How long all hooks of a write may take, those of the writes that it leads to included: rows are locked meanwhile. */
export const hooksBudgetMs = 5000;

/** A write that is about to happen, in its transaction. */
export interface PendingWrite {
  readonly query: Query;
  readonly collection: Collection;
  /** Undefined for a create. */
  readonly id: string | undefined;
  /** Empty for a delete. */
  readonly body: Body;
  /** What the product gives by itself in place of what the body says, such as an address that it makes up. */
  readonly given?: ColumnValues;
  /** The record as it is stored, and locked (`readStored`); undefined for a create. */
  readonly previous: Body | undefined;
  readonly context: RequestContext;
  /** When the hooks of the whole write have to be done, by `performance.now`, if this is a part of one. */
  readonly deadlineMs?: number;
}

/**
 * Runs what stands before a write, in its transaction, and gives the body that it goes on with. Throws what refuses it,
 * and 504 when it takes too long.
 */
export type BeforeWrite = (write: PendingWrite) => Promise<Body>;

/** What stands before writes beside the rules. */
export interface WriteHooks {
  /** Undefined, as for most collections, when nothing does: the write stays one statement. */
  find(collection: Collection, operation: Operation): BeforeWrite | undefined;
}
