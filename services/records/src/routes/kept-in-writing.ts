import type { Query } from '@recordbus/database';
import type { KeepAnswer, Reply } from '@recordbus/shared/http';
import { keepAnnounced } from '../files/announced-files.ts';
import type { Upload } from '../files/upload-parts.ts';
import type { WritableDatabase } from '../write/hooked-transactions.ts';

interface Writing {
  readonly database: WritableDatabase;
  /** Does anything stand before it? */
  readonly isHooked: boolean;
  readonly keepAnswer?: KeepAnswer | undefined;
  readonly upload?: Upload | undefined;
}

/**
 * Writes in one statement as it is, and for a request with an idempotency key, with files or with hooks in one
 * transaction with all of these: a process that dies in the middle has done nothing, or all of it.
 */
export function keptInWriting(
  { database, isHooked, keepAnswer, upload }: Writing,
  write: (query: Query) => Promise<Reply>,
): Promise<Reply> {
  if (!keepAnswer && !upload?.announced.length && !isHooked) return write(database.query);
  const transaction = isHooked ? database.hookedTransaction : database.transaction;
  return transaction(async (query) => {
    if (upload) await keepAnnounced(query, upload.announced);
    const reply = await write(query);
    await keepAnswer?.(reply, query);
    return reply;
  });
}
