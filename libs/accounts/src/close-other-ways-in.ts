import type { Query } from '@recordbus/database';

/** Removes what opens an account beside its password and its authenticator app. */
export async function closeOtherWaysIn(query: Query, accountId: string): Promise<void> {
  for (const table of ['one_time_tokens', 'recovery_codes', 'oauth_links'])
    await query({ text: `delete from system.${table} where account_id = $1`, values: [accountId] });
}
