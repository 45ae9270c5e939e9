import { recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { newKeyText } from '@recordbus/sessions';

/** A move's process may need so long at most, in seconds. */
const daySec = 86_400;

/** Makes the service key with which a move's process calls the API. It ends after a day in any case. */
export function makeMoveKey(
  { transaction }: Pick<Database, 'transaction'>,
  note: (query: Query, id: string) => Promise<void>,
): Promise<{ readonly id: string; readonly text: string }> {
  return transaction(async (query) => {
    const { id, hash, text } = newKeyText();
    await query({
      text: `insert into system.service_keys (id, name, hash, scopes, expires_at, allowed_cidrs, rate_limited, created_by_type)
        values ($1, 'import pocketbase', decode($2, 'hex'), '{admin}', extract(epoch from now())::bigint + $3, '{}', false, 'system')`,
      values: [id, hash.toString('hex'), daySec],
    });
    await note(query, id);
    const details = { name: 'import pocketbase', scopes: ['admin'] };
    await recordAudit(query, { action: 'keys.create', context: 'system', target: { type: 'key', id }, details });
    return { id, text };
  });
}

/** Revokes a move's key. */
export async function revokeMoveKey({ transaction }: Pick<Database, 'transaction'>, id: string): Promise<void> {
  await transaction(async (query) => {
    const rows = await query({ text: 'delete from system.service_keys where id = $1 returning 1', values: [id] });
    const details = { name: 'import pocketbase' };
    if (rows.length > 0)
      await recordAudit(query, { action: 'keys.delete', context: 'system', target: { type: 'key', id }, details });
  });
}
