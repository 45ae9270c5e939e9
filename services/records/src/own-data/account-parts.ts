import type { Query } from '@recordbus/database';

/** How many rows an entry has at most: the newest ones. */
const maxRows = 10_000;

interface AccountPart {
  readonly name: string;
  /** Selects the newest rows of the account $2 in the collection $1. */
  readonly select: string;
}

/** How the account is opened, as the account's holder sees it over the API: no tokens, keys or hashes. */
const accountParts: readonly AccountPart[] = [
  {
    name: 'sessions',
    select: `select id, created_at, last_used_at, ip, user_agent from system.sessions
      where collection_id = $1 and account_id = $2 and impersonated_by is null order by last_used_at desc, id desc`,
  },
  {
    name: 'links',
    select: `select provider, provider_user_id, created_at as created from system.oauth_links
      where collection_id = $1 and account_id = $2 order by created_at desc, provider, provider_user_id`,
  },
  {
    name: 'passkeys',
    select: `select id, name, created_at, last_used_at, is_copied as synced, transports from system.passkeys
      where collection_id = $1 and account_id = $2 order by created_at desc, id desc`,
  },
];

/** An entry beside the records. */
export interface AccountEntry {
  readonly path: string;
  /** JSON, a line each. */
  readonly text: string;
}

/** Reads an account's sessions, links to providers and passkeys (privacy §4.2). What the account does not have has no entry. */
export async function readAccountEntries(
  query: Query,
  collectionId: string,
  accountId: string,
): Promise<readonly AccountEntry[]> {
  const entries: AccountEntry[] = [];
  for (const { name, select } of accountParts) {
    const rows = await query<{ line: string }>({
      text: `select row_to_json(part)::text as line from (${select} limit ${maxRows}) part`,
      values: [collectionId, accountId],
    });
    if (rows.length > 0)
      entries.push({ path: `account/${name}.ndjson`, text: rows.map(({ line }) => `${line}\n`).join('') });
  }
  return entries;
}
