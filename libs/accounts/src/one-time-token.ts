import type { Query } from '@recordbus/database';

/** Uses up the one-time token with this hash. When calls are simultaneous, exactly one returns true. */
export async function finishOneTimeToken(query: Query, tokenHash: string): Promise<boolean> {
  const rows = await query({
    text: 'delete from system.one_time_tokens where token_hash = $1 returning 1',
    values: [tokenHash],
  });
  return rows.length > 0;
}
