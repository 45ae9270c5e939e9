import { type Database, newId, type Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import type { Origin } from '../auth-parts.ts';

/** A session's account. An admin has no collection. */
export interface SessionAccount {
  readonly collection: Collection | undefined;
  readonly id: string;
  readonly tokenVersion: number;
  /** The id of the admin who acts as the user. */
  readonly impersonatedBy?: string;
  /** Whether the session begins with a sign-in, which is a proof for ten minutes (identity §5.2). */
  readonly isSignIn: boolean;
}

/** A session as shown to its owner (auth §9.3). */
export interface SessionRow {
  readonly id: string;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** Longer user agents are cut, in characters. */
const maxUserAgentLength = 512;

/**
 * Adds a session and returns its id; undefined when the account is gone, is blocked, or has another token version, so
 * that a sign-in during a password change leaves no session.
 */
export async function insertSession(
  query: Query,
  account: SessionAccount,
  origin: Origin,
  { nowSec, expiresAtSec }: { readonly nowSec: number; readonly expiresAtSec: number },
): Promise<string | undefined> {
  const { collection, id, tokenVersion, impersonatedBy = null, isSignIn } = account;
  const [row] = await query<{ id: string }>({
    text: `insert into system.sessions (id, collection_id, account_id, created_at, last_used_at, expires_at, ip, user_agent, impersonated_by, signed_in_at)
      select $1, $2, a.id, $3, $3, $4, $5, $6, $9, $10 from ${collection ? tableOf(collection) : 'system.admins'} a
      where a.id = $7 and a.token_version = $8
        and not exists (select from system.blocked_accounts b where b.account_id = a.id) for share of a
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
      isSignIn ? nowSec : null,
    ],
  });
  return row?.id;
}

/**
 * How long a session's row may outlive its last token, in seconds. A session that is refreshed again within this time
 * needs no write.
 */
const spareSec = 60;

/** Extends a session to the given time unless it already lasts as long; returns false when it has ended. */
export async function extendSession(
  { read, query }: Pick<Database, 'read' | 'query'>,
  { id, accountId, nowSec, expiresAtSec }: { id: string; accountId: string; nowSec: number; expiresAtSec: number },
): Promise<boolean> {
  const [session] = await read<{ expiresAtSec: number }>({
    name: 'find session',
    text: 'select expires_at as "expiresAtSec" from system.sessions where id = $1 and account_id = $2',
    values: [id, accountId],
  });
  if (!session) return false;
  if (session.expiresAtSec >= expiresAtSec) return true;
  const rows = await query({
    text: `update system.sessions set last_used_at = $3, expires_at = $4 where id = $1 and account_id = $2 returning 1`,
    values: [id, accountId, nowSec, expiresAtSec + spareSec],
  });
  return rows.length > 0;
}

/** Lists an account's live sessions, last used first, without those in which admins act as the user (auth §9.3). */
export const listSessions = (query: Query, accountId: string, nowSec: number): Promise<SessionRow[]> =>
  query({
    text: `select id, created_at, last_used_at, ip, user_agent from system.sessions
      where account_id = $1 and expires_at > $2 and impersonated_by is null order by last_used_at desc, id desc`,
    values: [accountId, nowSec],
  });

/**
 * Ends one of an account's sessions and revokes it at the gateways; returns false when the account has no such session.
 */
export async function endSession(query: Query, accountId: string, sessionId: string): Promise<boolean> {
  const rows = await query({
    text: `with gone as (delete from system.sessions where account_id = $1 and id = $2 returning id)
      insert into system.revocations (subject) select id from gone returning 1`,
    values: [accountId, sessionId],
  });
  return rows.length > 0;
}

/**
 * Ends all an account's sessions but one, and its pending links except undo links (auth §9.5). Run it in a transaction,
 * so that the second statement also sees a link that an ending session requests. The first statement revokes the
 * sessions at the gateways.
 */
export async function endOtherSessions(query: Query, accountId: string, keptId: string | undefined): Promise<void> {
  await query({
    text: `with gone as (
        delete from system.sessions where account_id = $1 and id is distinct from $2 returning id
      ) insert into system.revocations (subject) select id from gone`,
    values: [accountId, keptId ?? null],
  });
  await query({
    text: `delete from system.one_time_tokens where account_id = $1 and purpose <> 'undo_email_change'`,
    values: [accountId],
  });
}

/** Locks a session for the rest of the transaction, so that it cannot end; returns false when it has ended. */
export async function lockSession(query: Query, accountId: string, sessionId: string): Promise<boolean> {
  const rows = await query({
    text: 'select from system.sessions where id = $1 and account_id = $2 for share',
    values: [sessionId, accountId],
  });
  return rows.length > 0;
}
