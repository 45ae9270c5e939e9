import type { Query } from '@recordbus/database';
import type { Collection, ColumnValues } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import type { Asking } from '../rules/compile-rule.ts';
import type { Unwritten } from './written-record.ts';

export type Operation = 'create' | 'update' | 'delete';

type Body = Readonly<Record<string, unknown>>;

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
  /** The versions that may be written on; any when undefined. */
  readonly versions: readonly number[] | undefined;
  readonly context: RequestContext;
  readonly asking: Asking;
}

/**
 * Runs what stands before a write, in its transaction, and gives the body that it goes on with. Throws what refuses it.
 */
export type BeforeWrite = (
  write: PendingWrite,
) => Promise<{ readonly outcome: 'ready'; readonly body: Body } | Unwritten>;

/** What stands before writes beside the rules. */
export interface WriteHooks {
  /** Undefined, as for most collections, when nothing does: the write stays one statement. */
  find(collection: Collection, operation: Operation): BeforeWrite | undefined;
}
