/**
 * Adds the columns of an answer that the statement of its write stores (http §7.9). It is not encrypted, since the
 * table of the collection holds the same record unencrypted.
 */
export const statements: readonly string[] = [
  `alter table system.idempotency_keys
    add column status smallint,
    add column etag text,
    add column json text`,
];
