/** What a view lacks of the columns that every table has, and the indexes that admins ask for (contract §8). */
export const statements: readonly string[] = [
  `alter table system.collections
    add column lacking jsonb not null default '[]',
    add column indexes jsonb not null default '[]'`,
];
