import type { Database, Query } from '@recordbus/database';
import type { KeepAnswer, Reply } from '@recordbus/shared/http';
import { keepAnnounced } from '../files/announced-files.ts';
import type { Upload } from '../files/receive-upload.ts';

interface Writing {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly keepAnswer?: KeepAnswer | undefined;
  readonly upload?: Upload | undefined;
  /** Does it have hooks, which share its transaction? */
  readonly isHooked: boolean;
}

/**
 * Writes in one statement as it is, and for a request with an idempotency key, with files or with hooks in one
 * transaction with all of these: a process that dies in the middle has done nothing, or all of it.
 */
export function keptInWriting(
  { database, keepAnswer, upload, isHooked }: Writing,
  write: (query: Query) => Promise<Reply>,
): Promise<Reply> {
  if (!keepAnswer && !upload?.announced.length && !isHooked) return write(database.query);
  return database.transaction(async (query) => {
    if (upload) await keepAnnounced(query, upload.announced);
    const reply = await write(query);
    await keepAnswer?.(reply, query);
    return reply;
  });
}
