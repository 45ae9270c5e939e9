import { type Kysely, sql } from 'kysely';

/** What a view lacks of the columns that every table has, and the indexes that admins ask for (contract §8). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table system.collections
    add column lacking jsonb not null default '[]',
    add column indexes jsonb not null default '[]'`,
];
