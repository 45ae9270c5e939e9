import type { Query } from './statement.ts';

/** A token that may be used once: the id that it was issued with, and when it expires, in unix seconds. */
interface OneTimeToken {
  readonly id: string;
  readonly expiresAtSec: number;
}

/** Uses up a token. Returns false if it was used. One statement does this, so only one replica gets true. */
export async function useToken(query: Query, { id, expiresAtSec }: OneTimeToken): Promise<boolean> {
  const rows = await query({
    name: 'use-token',
    // Kept for an hour after its expiry, since clocks may differ. The records service deletes expired rows.
    text: `insert into system.used_file_tokens (id, expires_at) values ($1, to_timestamp($2) + interval '1 hour')
on conflict (id) do nothing returning id`,
    values: [id, expiresAtSec],
  });
  return rows.length > 0;
}

/** Whether a token was used. */
export async function isTokenUsed(query: Query, { id }: Pick<OneTimeToken, 'id'>): Promise<boolean> {
  const rows = await query({ text: 'select from system.used_file_tokens where id = $1', values: [id] });
  return rows.length > 0;
}
