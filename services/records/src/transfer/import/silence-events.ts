import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';

/**
 * Keeps the events of this transaction's later writes to one collection from being published. Returns the function to
 * call at the end. The rows stay for list totals (read/total.ts).
 */
export async function silenceEvents(query: Query, { id }: Collection): Promise<() => Promise<void>> {
  const [last] = await query<{ id: number }>({
    text: `select coalesce(max(id), 0) as id from system.outbox where published_at is null and parked_at is null`,
    values: [],
  });
  return async () => {
    await query({
      text: `update system.outbox set published_at = now(), body = ''
        where id > $1 and published_at is null and collection_id = $2 and transaction_id = pg_current_xact_id()`,
      values: [last?.id ?? 0, id],
    });
  };
}
