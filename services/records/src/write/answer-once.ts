import { AppError } from '@recordbus/errors';
import type { KeepAnswer, Reply, RequestKey, RouteInput, UnusedKey } from '@recordbus/http';
import { isKeyUsed } from '@recordbus/idempotency';
import { type Collection, encryptedFieldsOf } from '@recordbus/schema';
import type { WriteMode } from './write-mode.ts';

/** How the answer of a write is kept for the key of its request; empty without a key. */
interface Keeper {
  /** For the statement of the write, which keeps the answer itself. */
  readonly key?: UnusedKey | undefined;
  /** Keeps the answer with another statement in the transaction. */
  readonly keepAnswer?: KeepAnswer | undefined;
}

/** Whether the statement of a write can keep its answer: if it is the only one, and its answer needs no decryption. */
export const keepsItself = (collection: Collection, mode: WriteMode): boolean =>
  mode === 'statement' && encryptedFieldsOf(collection).length === 0;

/**
 * Does a write once for the idempotency key of its request (http §7.2). A statement that keeps its answer itself is one
 * round trip and shares its commit. For any other write, and for a used key, the key is claimed first.
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

/** Whether a write was refused, by a unique field or a rule, because another request with its key was faster. */
const wasUsedMeanwhile = async (key: RequestKey, error: unknown): Promise<boolean> =>
  error instanceof AppError && (await key.findUnused()) === undefined;
