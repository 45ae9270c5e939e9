/** Accounts that an admin has blocked. A row outlives its account, so a restored account is still blocked. */
export const statements: readonly string[] = [
  `create table system.blocked_accounts (
    account_id text collate "C" primary key,
    collection_id text collate "C" not null references system.collections (id) on delete cascade,
    blocked_at bigint not null
  )`,
  'create index blocked_accounts_collection on system.blocked_accounts (collection_id)',
];
