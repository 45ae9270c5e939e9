/** Adds the columns that a view lacks, and the indexes of admins (collections §10). */
export const statements: readonly string[] = [
  `alter table system.collections
    add column lacking jsonb not null default '[]',
    add column indexes jsonb not null default '[]'`,
];
