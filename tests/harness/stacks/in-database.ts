import assert from 'node:assert/strict';
import pg from 'pg';
import type { Target } from './target.ts';

/** Runs a statement in the stack's database, for effects that no route has, such as passing time. Returns the rows. */
export async function inDatabase(
  { databaseUrl }: Pick<Target, 'databaseUrl'>,
  text: string,
  values: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(databaseUrl ?? assert.fail('the stack has no database of ours'));
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
