import type { ExtensionWorker } from '@recordbus/extension-host';
import type { Principal, RequestContext } from '@recordbus/shared/context';
import { AppError } from '@recordbus/shared/errors';
import type { WriteTransaction } from './write-transaction.ts';

/** What a call of an extension stands in. */
export interface CallScope {
  /** Of the request that led to it; the caller is its principal. */
  readonly context: RequestContext;
  /** Of the write that the call is a before hook of. */
  readonly transaction: WriteTransaction | undefined;
  /** The workers that wait for this call, by extension: a hook within a hook runs where the outer one waits. */
  readonly workers: ReadonlyMap<string, ExtensionWorker>;
  /** Hooks within hooks. */
  readonly depth: number;
  /** When the outermost before hook has to be done, by `performance.now`. */
  readonly deadlineMs: number;
}

/** Writes of hooks that lead to hooks that write; a circle ends here. */
const maxDepth = 8;

/** The scope of a call that no other call led to. */
export const rootScope = (context: RequestContext): CallScope => ({
  context,
  transaction: undefined,
  workers: new Map(),
  depth: 0,
  deadlineMs: Number.POSITIVE_INFINITY,
});

/** The scope of what a call in this scope leads to, while its worker waits. Throws 500 for a circle. */
export function scopeWithin(scope: CallScope, extension: string, worker: ExtensionWorker): CallScope {
  if (scope.depth >= maxDepth) throw new AppError(500, 'extension_failed', `hooks within hooks, ${maxDepth} deep`);
  return { ...scope, workers: new Map(scope.workers).set(extension, worker), depth: scope.depth + 1 };
}

/** As whom an extension acts when it names nobody: an admin of its name. */
export const principalOfExtension = (extension: string): Principal => ({
  type: 'admin',
  id: `extension:${extension}`,
  email: '',
});
