import type { Query } from '@recordbus/database';
import { z } from 'zod';

/** An address change to undo: its number, and its time. */
export const undone = z.object({ changeId: z.string(), changedAtSec: z.int() }).readonly();
export type Undone = z.infer<typeof undone>;

/**
 * Disables undoing changes after an undone one: their links must not restore a later address. Changes whose mail is not
 * written yet, including the undo itself, get a mail without a link. Call it after the account is written.
 */
export async function disableLaterUndos(query: Query, accountId: string, { changeId }: Undone): Promise<void> {
  await query({
    text: `update system.account_changes set data = data || '{"isUndoable": false, "isUndoableUntilProved": false}'
      where account_id = $1 and kind = 'email' and id > $2::bigint`,
    values: [accountId, changeId],
  });
  await query({
    text: `delete from system.one_time_tokens
      where account_id = $1 and purpose = 'undo_email_change' and (data->>'changeId')::bigint > $2::bigint`,
    values: [accountId, changeId],
  });
}

/**
 * Ends the undo links for addresses that were not proved, after the account proved another address (identity §4.5). The
 * trigger on the account's table does the same when `verified` becomes true (`system.account_changed`).
 */
export async function endUnprovedUndos(query: Query, accountId: string): Promise<void> {
  await query({ text: 'select system.end_unproved_undos($1)', values: [accountId] });
}
