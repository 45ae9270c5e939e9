import type { Query } from '@recordbus/database';
import type { FileToken } from '@recordbus/tokens';

type Used = Pick<FileToken, 'id' | 'expiresAtSec'>;

/** Uses up a token; false for a used one. It is one statement, so only one of all replicas gets true. */
export async function useToken(query: Query, { id, expiresAtSec }: Used): Promise<boolean> {
  const rows = await query({
    name: 'use-file-token',
    // Kept for an hour after its expiry, since clocks may differ.
    text: `insert into system.used_file_tokens (id, expires_at) values ($1, to_timestamp($2) + interval '1 hour')
on conflict (id) do nothing returning id`,
    values: [id, expiresAtSec],
  });
  return rows.length > 0;
}

/** Whether the token was used. */
export async function isUsed(query: Query, { id }: Pick<Used, 'id'>): Promise<boolean> {
  const rows = await query({ text: 'select from system.used_file_tokens where id = $1', values: [id] });
  return rows.length > 0;
}
