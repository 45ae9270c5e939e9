import { signInCondition } from '@recordbus/accounts';
import { type Database, newId, type Query } from '@recordbus/database';
import { createParameters, type QuerySchema } from '@recordbus/query';
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
  /** The sign-in's factors (auth §6.9). */
  readonly factors?: readonly string[];
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
 * Adds a session and returns its id; undefined when the account is gone, is blocked, has another token version, or is
 * refused by the `sign_in_rule`. The row is locked, so a sign-in during such a change leaves no session.
 */
export async function insertSession(
  query: Query,
  account: SessionAccount,
  origin: Origin,
  { nowSec, expiresAtSec }: { readonly nowSec: number; readonly expiresAtSec: number },
  schema?: QuerySchema,
): Promise<string | undefined> {
  const { collection, id, tokenVersion, impersonatedBy = null, isSignIn, factors = [] } = account;
  const parameters = createParameters();
  const text = (value: string | null) => parameters.fixed(value, 'text');
  const seconds = (value: number | null) => parameters.fixed(value, 'bigint');
  const now = seconds(nowSec);
  const row = [
    text(newId()),
    text(collection?.id ?? null),
    'a.id',
    now,
    now,
    seconds(expiresAtSec),
    text(origin.context.clientAddress),
    text(origin.userAgent?.slice(0, maxUserAgentLength) ?? null),
    text(impersonatedBy),
    seconds(isSignIn ? nowSec : null),
    parameters.fixed(factors, 'text[]'),
  ];
  const admitted = collection && schema && signInCondition(collection, schema, parameters);
  const [inserted] = await query<{ id: string }>({
    text: `insert into system.sessions (id, collection_id, account_id, created_at, last_used_at, expires_at, ip, user_agent, impersonated_by, signed_in_at, factors)
      select ${row.join(', ')} from ${collection ? tableOf(collection) : 'system.admins'} a
      where a.id = ${text(id)} and a.token_version = ${parameters.fixed(tokenVersion, 'integer')}
        and not exists (select from system.blocked_accounts b where b.account_id = a.id)${admitted ? ` and ${admitted}` : ''}
      for share of a returning id`,
    checksRule: admitted !== undefined,
    values: parameters.values(),
  });
  return inserted?.id;
}

/**
 * How long a session's row may outlive its last token, in seconds. A session that is refreshed again within this time
 * needs no write.
 */
const spareSec = 60;

/**
 * Extends a session to the given time unless it already lasts as long. Returns when a new token may expire at the latest: a
 * fixed session is never extended (move §2.8). Undefined when the session has ended.
 */
export async function extendSession(
  { read, query }: Pick<Database, 'read' | 'query'>,
  { id, accountId, nowSec, expiresAtSec }: { id: string; accountId: string; nowSec: number; expiresAtSec: number },
): Promise<number | undefined> {
  const [session] = await read<{ expiresAtSec: number; isFixed: boolean }>({
    name: 'find session',
    text: 'select expires_at as "expiresAtSec", is_fixed as "isFixed" from system.sessions where id = $1 and account_id = $2',
    values: [id, accountId],
  });
  if (!session) return undefined;
  if (session.isFixed) return Math.min(session.expiresAtSec, expiresAtSec);
  if (session.expiresAtSec >= expiresAtSec) return expiresAtSec;
  const rows = await query({
    text: `update system.sessions set last_used_at = $3, expires_at = $4 where id = $1 and account_id = $2 returning 1`,
    values: [id, accountId, nowSec, expiresAtSec + spareSec],
  });
  return rows.length > 0 ? expiresAtSec : undefined;
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
 * so that each statement also sees what others did before it: first no token from PocketBase opens a session any more
 * (move §2.8), then the sessions end and are revoked at the gateways, then the links that they requested.
 */
export async function endOtherSessions(query: Query, accountId: string, keptId: string | undefined): Promise<void> {
  await query({
    text: 'update system.pocketbase_keys set opens_sessions = false where account_id = $1 and opens_sessions',
    values: [accountId],
  });
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
