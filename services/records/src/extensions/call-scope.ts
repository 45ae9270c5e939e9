import { AppError } from '@recordbus/errors';
import type { ExtensionWorker } from '@recordbus/extension-host';
import type { WriteContext } from '@recordbus/journal';
import type { Principal } from '@recordbus/request/context';
import { type RunWrite, runWithin } from '../write/write-unit.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The scope in which an extension is called. */
export interface CallScope {
  /** The context of the request that caused the call; the caller is its principal. */
  readonly context: WriteContext;
  /** The transaction of the write whose before hook this is, or the one that the call has opened. */
  readonly transaction: WriteTransaction | undefined;
  /** The workers that wait for this call, by extension: a nested hook runs in the worker of the outer one. */
  readonly workers: ReadonlyMap<string, ExtensionWorker>;
  /** How deeply hooks are nested. */
  readonly depth: number;
  /** The outermost before hook's or the transaction's deadline, by `performance.now`. */
  readonly deadlineMs: number;
}

/** How deeply hooks may be nested, since hooks whose writes run hooks may form a circle. */
const maxDepth = 8;

/** Returns how a call writes: as a part of its transaction, or without one by itself. */
export const writeIn = ({ transaction }: Pick<CallScope, 'transaction'>, write: RunWrite): RunWrite =>
  transaction ? (options, work) => transaction.part((part) => runWithin(part)(options, work)) : write;

/** The scope for a call that no other call caused. */
export const rootScope = (context: WriteContext): CallScope => ({
  context,
  transaction: undefined,
  workers: new Map(),
  depth: 0,
  deadlineMs: Number.POSITIVE_INFINITY,
});

/** A nested call's scope, while the outer one's worker waits. Throws 500 beyond `maxDepth`. */
export function scopeWithin(scope: CallScope, extension: string, worker: ExtensionWorker): CallScope {
  if (scope.depth >= maxDepth) throw new AppError(500, 'extension_failed', `more than ${maxDepth} nested hooks`);
  return { ...scope, workers: new Map(scope.workers).set(extension, worker), depth: scope.depth + 1 };
}

/** The principal for an extension that names no other: an admin with the extension's name. */
export const principalOfExtension = (extension: string): Principal => ({
  type: 'admin',
  id: `extension:${extension}`,
  email: '',
});
