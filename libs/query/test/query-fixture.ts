import type { Database } from '@recordbus/database';
import { openTemporaryDatabase } from '@recordbus/database/testing';
import type { RequestValues } from '../src/index.ts';
import { unicodeCollation } from '../src/sql/sql-target.ts';
import { describeLinks, describeRows, describeTables } from './tables.ts';
import type { World } from './world.ts';

/** A separate database with a table for each collection. */
export interface QueryFixture {
  readonly database: Database;
  /** The collation that folds case on the server. */
  readonly collation: string;
  /** Replaces the tables with the given collections' tables. */
  createTables(collections: World['collections']): Promise<void>;
  /** Replaces all records. */
  fill(world: World): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the database, without tables. */
export async function startDatabase(): Promise<QueryFixture> {
  const temporary = await openTemporaryDatabase();
  const { database } = temporary;
  const [found] = await database.query({
    text: 'select from pg_collation where collname = $1',
    values: [unicodeCollation.replaceAll('"', '')],
  });
  return {
    database,
    collation: found ? unicodeCollation : '"und-x-icu"',
    async createTables(collections) {
      for (const text of describeTables(collections)) await database.query({ text, values: [] });
    },
    async fill({ collections, records }) {
      for (const [name, collection] of Object.entries(collections)) {
        await database.query({ text: `delete from records."${name}"`, values: [] });
        await database.query(describeRows(collection, records[name] ?? []));
        for (const text of describeLinks(collection)) await database.query({ text, values: [] });
      }
    },
    stop: () => temporary.remove(),
  };
}

/** Opens the database with the given collections' tables. */
export async function startTables(collections: World['collections']): Promise<QueryFixture> {
  const fixture = await startDatabase();
  await fixture.createTables(collections);
  return fixture;
}

/** A guest's empty request, or one with a test's values. */
export const requestWith = (values: Partial<RequestValues> = {}): RequestValues => ({
  method: 'GET',
  auth: undefined,
  body: undefined,
  query: () => undefined,
  header: () => undefined,
  ...values,
});
