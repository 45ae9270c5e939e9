import { type Kysely, sql } from 'kysely';

/** Where the history of records stands: a table for each collection that keeps one, made with its flag. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('create schema history').execute(db);
}
