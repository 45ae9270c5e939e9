import type { Database, Query } from '@recordbus/database';
import type { KeepAnswer, Reply } from '@recordbus/shared/http';
import { keepAnnounced } from '../files/announced-files.ts';
import type { Upload } from '../files/receive-upload.ts';

/**
 * Writes in one statement as it is, and for a request with an idempotency key, or with files, in one transaction with
 * its kept answer and with keeping the files: a process that dies in the middle has done nothing, or all of it.
 */
export function keptInWriting(
  database: Pick<Database, 'query' | 'transaction'>,
  keepAnswer: KeepAnswer | undefined,
  write: (query: Query) => Promise<Reply>,
  upload?: Upload,
): Promise<Reply> {
  if (!keepAnswer && !upload?.announced.length) return write(database.query);
  return database.transaction(async (query) => {
    if (upload) await keepAnnounced(query, upload.announced);
    const reply = await write(query);
    await keepAnswer?.(reply, query);
    return reply;
  });
}
