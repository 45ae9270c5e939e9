import { secondFactorCondition, signInCondition } from '@recordbus/accounts';
import type { Database, Query } from '@recordbus/database';
import { createParameters, findCaseCollation } from '@recordbus/query';
import { loadCollections, tableOf } from '@recordbus/schema';
import type { AccountKey } from './account-keys.ts';
import type { TokenClaims } from './token-claims.ts';

/** A session that a PocketBase token opens. */
export interface OpenedSession {
  readonly id: string;
  readonly key: AccountKey;
  readonly claims: TokenClaims;
  readonly clientAddress: string | null;
  readonly userAgent: string | null;
}

/**
 * Opens a token's session, if the token has not opened it before. It is not a sign-in, but passes the same gate: an
 * account that is blocked, has another token version, is refused by the `sign_in_rule`, has an authenticator app since, or
 * needs a second factor, opens none. The account and its key are locked, so a token that is used during such a change
 * leaves no session.
 */
export async function openSession(
  { query }: Pick<Database, 'query'>,
  { id, key, claims, clientAddress, userAgent }: OpenedSession,
  nowSec: number,
): Promise<void> {
  const [collections, collation] = await Promise.all([loadCollections(query), findCaseCollation(query)]);
  const findCollection = (name: string) => collections.collections.find((one) => one.name === name);
  const collection = findCollection(key.collection);
  if (!collection) return;
  const parameters = createParameters();
  const text = (value: string | null) => parameters.fixed(value, 'text');
  const seconds = (value: number) => parameters.fixed(value, 'bigint');
  const version = parameters.fixed(key.tokenVersion, 'integer');
  const [session, now, end] = [text(id), seconds(nowSec), seconds(claims.expiresAtSec)];
  const row = [
    ...[session, text(collection.id), 'account_id', now, now, end],
    ...[text(clientAddress), text(userAgent), parameters.fixed(!claims.isRefreshable, 'boolean')],
  ];
  const schema = { findCollection, collation };
  const admitted = signInCondition(collection, schema, parameters);
  const rule = await findRequiredRule(query, collection.name);
  const needsFactor = rule && secondFactorCondition(rule, collection, schema, parameters);
  await query({
    text: `with admitted as (
        select a.id from ${tableOf(collection)} a join system.pocketbase_keys k on k.account_id = a.id
        where a.id = ${text(key.accountId)} and a.token_version = ${version} and k.token_version = ${version} and k.opens_sessions
          and not a.totp_enabled
          and not exists (select from system.blocked_accounts b where b.account_id = a.id)${admitted ? ` and ${admitted}` : ''}
          ${needsFactor ? `and not ${needsFactor}` : ''}
        for share of a, k
      ), first as (
        insert into system.pocketbase_tokens (session_id, account_id, expires_at)
        select ${session}, id, ${end} from admitted on conflict do nothing returning account_id
      ) insert into system.sessions (id, collection_id, account_id, created_at, last_used_at, expires_at, ip, user_agent, is_fixed)
        select ${row.join(', ')} from first`,
    checksRule: admitted !== undefined || needsFactor !== undefined,
    values: parameters.values(),
  });
}

/** Reads the setting `auth.mfa.required.<collection>`. A token opens one session only, so this process keeps no copy. */
async function findRequiredRule(query: Query, collection: string): Promise<string | undefined> {
  const [setting] = await query<{ value: string }>({
    text: 'select value from system.settings where key = $1',
    values: [`auth.mfa.required.${collection}`],
  });
  return setting?.value;
}
