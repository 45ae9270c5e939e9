/** The answers that are given again to requests with the same idempotency key. */
export const statements: readonly string[] = [
  // Ids and fingerprints are keyed hashes and answers are sealed, so a copy of this table tells nothing. A row without
  // an answer belongs to whoever holds its token, until the lease is over.
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
