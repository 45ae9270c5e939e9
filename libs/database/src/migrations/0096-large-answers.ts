/**
 * Creates the index of large answers of idempotency keys, of which only so many bytes are kept (http §7.6). It has no row for
 * the others.
 */
export const statements: readonly string[] = [
  `create index idempotency_keys_large on system.idempotency_keys (expires_at)
    where octet_length(json) > 16384 or octet_length(answer) > 16384`,
];
