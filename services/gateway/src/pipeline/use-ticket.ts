import { type Database, mapDatabaseError, useToken } from '@recordbus/database';
import type { Ticket } from '@recordbus/tokens';

/** Uses up a ticket. Returns false if it was used. Only one gateway gets true. */
export type UseTicket = (ticket: Ticket) => Promise<boolean>;

/** Creates the function that uses up tickets in the database. */
export const useTicketsOf =
  ({ query }: Pick<Database, 'query'>): UseTicket =>
  async (ticket) => {
    try {
      return await useToken(query, ticket);
    } catch (error) {
      throw mapDatabaseError(error) ?? error;
    }
  };
