import { isKeyUsed } from '@recordbus/idempotency';
import { type Collection, encryptedFieldsOf } from '@recordbus/schema';
import { AppError } from '@recordbus/shared/errors';
import type { KeepAnswer, Reply, RequestKey, RouteInput, UnusedKey } from '@recordbus/shared/http';
import type { WriteMode } from './write-mode.ts';

/** What keeps the answer of a write for the key of its request: nothing without a key. */
interface Keeper {
  /** The statement of the write. */
  readonly key?: UnusedKey | undefined;
  /** A statement after it, in its transaction. */
  readonly keepAnswer?: KeepAnswer | undefined;
}

/** Whether the statement of a write can keep its answer: alone, and it answers what the database holds. */
export const keepsItself = (collection: Collection, mode: WriteMode): boolean =>
  mode === 'statement' && encryptedFieldsOf(collection).length === 0;

/**
 * Does a write once for the idempotency key of its request (http §7.2). A statement that keeps its answer itself is one
 * round trip and shares its commit. A used key, and any other write, is claimed first.
 */
export async function answerOnce(
  { key, keepAnswer }: Pick<RouteInput<never, never, never>, 'key' | 'keepAnswer'>,
  isKeptByStatement: boolean,
  work: (keeper: Keeper) => Promise<Reply>,
): Promise<Reply> {
  if (!key) return work({ keepAnswer });
  const unused = isKeptByStatement ? await key.findUnused() : undefined;
  if (unused) {
    try {
      return await work({ key: unused });
    } catch (error) {
      if (!isKeyUsed(error) && !(await wasUsedMeanwhile(key, error))) throw error;
    }
  }
  return key.answerOnce((keep) => work({ keepAnswer: keep }));
}

/** Whether a write was refused because another request with its key was quicker: by a unique field, or by a rule. */
const wasUsedMeanwhile = async (key: RequestKey, error: unknown): Promise<boolean> =>
  error instanceof AppError && (await key.findUnused()) === undefined;
