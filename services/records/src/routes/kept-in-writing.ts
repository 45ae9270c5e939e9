import type { Database, Query } from '@recordbus/database';
import type { KeepAnswer, Reply } from '@recordbus/shared/http';
import { keepAnnounced } from '../files/announced-files.ts';
import type { Upload } from '../files/upload-parts.ts';

interface Writing {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  /** The transaction of its hooks, if it has any. */
  readonly hookedTransaction?: Database['transaction'] | undefined;
  readonly keepAnswer?: KeepAnswer | undefined;
  readonly upload?: Upload | undefined;
}

/**
 * Writes in one statement as it is, and for a request with an idempotency key, with files or with hooks in one
 * transaction with all of these: a process that dies in the middle has done nothing, or all of it.
 */
export function keptInWriting(
  { database, hookedTransaction, keepAnswer, upload }: Writing,
  write: (query: Query) => Promise<Reply>,
): Promise<Reply> {
  if (!keepAnswer && !upload?.announced.length && !hookedTransaction) return write(database.query);
  const transaction = hookedTransaction ?? database.transaction;
  return transaction(async (query) => {
    if (upload) await keepAnnounced(query, upload.announced);
    const reply = await write(query);
    await keepAnswer?.(reply, query);
    return reply;
  });
}
