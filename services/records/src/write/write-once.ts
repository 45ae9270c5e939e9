import { AppError } from '@recordbus/errors';
import type { KeepAnswer, Reply, RequestKey, RouteInput, UnusedKey } from '@recordbus/http';
import { isKeyUsed } from '@recordbus/idempotency';
import { type Collection, encryptedFieldsOf } from '@recordbus/schema';
import type { ServedCollections } from '../record/served-collections.ts';
import type { RunWrite, WriteOptions, WriteUnit } from './write-unit.ts';

/** One request's write, planned for one schema version. */
export interface PlannedWrite extends Omit<WriteOptions<Reply>, 'keepAnswer'> {
  /** Writes, and returns the answer, which the write's statement keeps for the idempotency key `keptFor`. */
  run(unit: WriteUnit, keptFor?: UnusedKey): Promise<Reply>;
}

interface WriteOnceDeps {
  readonly collections: Pick<ServedCollections, 'serve'>;
  readonly write: RunWrite;
}

type KeyInput = Pick<RouteInput<never, never, never>, 'key' | 'keepAnswer'>;

/**
 * Plans and runs a request's write once for its idempotency key (http §7.2). Plans it again if the schema has changed
 * meanwhile. A statement that keeps its answer itself is one round trip and shares its commit. For any other write, and
 * for a used key, the key is claimed first.
 */
export const writeOnce = (
  input: KeyInput,
  request: Parameters<ServedCollections['serve']>[0],
  { collections, write }: WriteOnceDeps,
  plan: (collection: Collection) => PlannedWrite | Promise<PlannedWrite>,
): Promise<Reply> =>
  collections.serve(request, async (collection) => {
    const { run, ...options } = await plan(collection);
    const { key } = input;
    const perform = (keepAnswer?: KeepAnswer, keptFor?: UnusedKey) =>
      write({ ...options, keepAnswer }, (unit) => run(unit, keptFor));
    if (!key) return perform(input.keepAnswer);
    const canKeepItself = options.mode === 'statement' && encryptedFieldsOf(collection).length === 0;
    const unused = canKeepItself ? await key.findUnused() : undefined;
    const answer = unused && (await unlessUsed(key, perform(undefined, unused)));
    return answer ?? key.answerOnce((keepAnswer) => perform(keepAnswer));
  });

/** The answer; undefined if the write was refused because another request with its key was faster. */
async function unlessUsed(key: RequestKey, answer: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await answer;
  } catch (error) {
    // A unique field or a rule may have refused it first.
    if (isKeyUsed(error) || (error instanceof AppError && !(await key.findUnused()))) return undefined;
    throw error;
  }
}
