/** Creates the stored answers of idempotency keys. */
export const statements: readonly string[] = [
  // Ids and fingerprints are keyed hashes and answers are encrypted, so a copy of this table reveals nothing. A row
  // without an answer belongs to the holder of its token until the lease ends.
  `create table system.idempotency_keys (
    id bytea primary key,
    token uuid not null,
    lease_until timestamptz not null,
    fingerprint bytea,
    answer bytea,
    expires_at timestamptz not null
  ) with (fillfactor = 80)`,
  'create index idempotency_keys_expired on system.idempotency_keys (expires_at)',
];
