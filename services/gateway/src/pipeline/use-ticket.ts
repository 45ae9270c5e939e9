import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Ticket } from '@recordbus/tokens';

/** Uses up a ticket; false for a used one. Of all gateways, only one gets true. */
export type UseTicket = (ticket: Ticket) => Promise<boolean>;

/** Creates the function that uses up tickets in the database, with the file tokens that are used up there too. */
export const useTicketsOf =
  ({ query }: Pick<Database, 'query'>): UseTicket =>
  async ({ id, expiresAtSec }) => {
    try {
      const rows = await query({
        name: 'use-ticket',
        // Kept for an hour after its expiry, since clocks may differ. The records service deletes what has expired.
        text: `insert into system.used_file_tokens (id, expires_at) values ($1, to_timestamp($2) + interval '1 hour')
on conflict (id) do nothing returning id`,
        values: [id, expiresAtSec],
      });
      return rows.length > 0;
    } catch (error) {
      throw mapDatabaseError(error) ?? error;
    }
  };
