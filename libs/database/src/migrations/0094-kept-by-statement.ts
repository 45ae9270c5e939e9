/**
 * Adds the columns of an answer that the statement of its write keeps (http §7.9). It is not sealed: it shows a record as
 * the table of its collection holds it.
 */
export const statements: readonly string[] = [
  `alter table system.idempotency_keys
    add column status smallint,
    add column etag text,
    add column json text`,
];
