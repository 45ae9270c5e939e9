import type { WriteContext } from '@recordbus/journal';
import type { Collection, ColumnValues } from '@recordbus/schema';
import type { WriteMode } from './write-mode.ts';
import type { WriteUnit } from './write-unit.ts';

export type Operation = 'create' | 'update' | 'delete';

type Body = Readonly<Record<string, unknown>>;

/** A write before its hooks run, in its transaction. */
export interface PendingWrite {
  readonly unit: WriteUnit;
  readonly collection: Collection;
  /** Undefined for a create. */
  readonly id: string | undefined;
  /** Empty for a delete. */
  readonly body: Body;
  /** Values that the product sets instead of the body's, such as a synthetic address. */
  readonly given?: ColumnValues;
  /** The stored record, which is locked (`readStored`); undefined for a create. */
  readonly previous: Body | undefined;
  readonly context: WriteContext;
  /** The deadline for all hooks in the whole write, by `performance.now`, if this is a part of one. */
  readonly deadlineMs?: number;
}

/**
 * Runs the hooks before a write, in its transaction, and returns the body that they leave. Throws a hook's refusal, and
 * 504 when they take too long.
 */
export type BeforeWrite = (write: PendingWrite) => Promise<Body>;

/** The hooks before writes. */
export interface WriteHooks {
  /** Undefined without hooks, as for most collections: then the write is one statement. */
  find(collection: Collection, operation: Operation): BeforeWrite | undefined;
}

/** A create's or an update's mode: one statement, unless it has hooks. */
export const modeOf = (hooks: WriteHooks, collection: Collection, operation: Operation): WriteMode =>
  hooks.find(collection, operation) ? 'hooked' : 'statement';

/**
 * How long all hooks for a write may take, including those for the writes that it causes. Rows are locked meanwhile.
 */
export const hooksBudgetMs = 5000;
