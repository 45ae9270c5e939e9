import { newId, type Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import type { Origin } from '../auth-parts.ts';

/** An account to which a session belongs; an admin is of no collection. */
export interface SessionAccount {
  readonly collection: Collection | undefined;
  readonly id: string;
  readonly tokenVersion: number;
  /** The admin who acts as the user. */
  readonly impersonatedBy?: string;
}

/** A session as its owner sees it (contract §4). */
export interface SessionRow {
  readonly id: string;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** Longest user agent that is kept, in characters. */
const maxUserAgentLength = 512;

/**
 * Adds a session and gives its id; undefined when the account is gone or has another token version by now, so that a
 * sign-in which a new password has overtaken leaves nothing behind.
 */
export async function insertSession(
  query: Query,
  account: SessionAccount,
  origin: Origin,
  { nowSec, expiresAtSec }: { readonly nowSec: number; readonly expiresAtSec: number },
): Promise<string | undefined> {
  const { collection, id, tokenVersion, impersonatedBy = null } = account;
  const [row] = await query<{ id: string }>({
    text: `insert into system.sessions (id, collection_id, account_id, created_at, last_used_at, expires_at, ip, user_agent, impersonated_by)
      select $1, $2, a.id, $3, $3, $4, $5, $6, $9 from ${collection ? tableOf(collection) : 'system.admins'} a
      where a.id = $7 and a.token_version = $8 for share of a
      returning id`,
    values: [
      newId(),
      collection?.id ?? null,
      nowSec,
      expiresAtSec,
      origin.context.clientAddress,
      origin.userAgent?.slice(0, maxUserAgentLength) ?? null,
      id,
      tokenVersion,
      impersonatedBy,
    ],
  });
  return row?.id;
}

/** Lets a session live until a new time; false when it has ended. */
export async function prolongSession(
  query: Query,
  { id, accountId, nowSec, expiresAtSec }: { id: string; accountId: string; nowSec: number; expiresAtSec: number },
): Promise<boolean> {
  const rows = await query({
    text: `update system.sessions set last_used_at = $3, expires_at = $4 where id = $1 and account_id = $2 returning 1`,
    values: [id, accountId, nowSec, expiresAtSec],
  });
  return rows.length > 0;
}

/** The account holder's sessions that are still good, the one used last first; an admin's that act as them are not theirs. */
export const listSessions = (query: Query, accountId: string, nowSec: number): Promise<SessionRow[]> =>
  query({
    text: `select id, created_at, last_used_at, ip, user_agent from system.sessions
      where account_id = $1 and expires_at > $2 and impersonated_by is null order by last_used_at desc, id desc`,
    values: [accountId, nowSec],
  });

/** Ends one session of an account; false when there is none of that id. Gateways are told by the same statement. */
export async function endSession(query: Query, accountId: string, sessionId: string): Promise<boolean> {
  const rows = await query({
    text: `with gone as (delete from system.sessions where account_id = $1 and id = $2 returning id)
      insert into system.revocations (subject) select id from gone returning 1`,
    values: [accountId, sessionId],
  });
  return rows.length > 0;
}

/** Ends the sessions of an account but the given one. Gateways are told by the same statement. */
export async function endOtherSessions(query: Query, accountId: string, keptId: string | undefined): Promise<void> {
  await query({
    text: `with gone as (
        delete from system.sessions where account_id = $1 and id is distinct from $2 returning id
      ) insert into system.revocations (subject) select id from gone`,
    values: [accountId, keptId ?? null],
  });
}
