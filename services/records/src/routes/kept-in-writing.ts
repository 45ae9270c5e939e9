import type { Database, Query } from '@recordbus/database';
import type { KeepAnswer, Reply } from '@recordbus/shared/http';

/**
 * Writes in one statement as it is, and for a request with an idempotency key in one transaction with its kept answer:
 * a process that dies in the middle has done nothing, or all of it.
 */
export function keptInWriting(
  database: Pick<Database, 'query' | 'transaction'>,
  keepAnswer: KeepAnswer | undefined,
  write: (query: Query) => Promise<Reply>,
): Promise<Reply> {
  if (!keepAnswer) return write(database.query);
  return database.transaction(async (query) => {
    const reply = await write(query);
    await keepAnswer(reply, query);
    return reply;
  });
}
