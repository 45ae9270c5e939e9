import { type Database, openDatabase } from '@recordbus/database';
import { createTemporaryDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/shared/logging';
import { type RequestValues, unicodeCollation } from '../src/index.ts';
import { describeRows, describeTables, type World } from './world.ts';

const serverUrl = process.env.TEST_DATABASE_URL;

/** Reason to skip tests that need PostgreSQL, when there is none. */
export const skipWithoutDatabase = serverUrl ? false : 'TEST_DATABASE_URL is not set';

/** A database of its own with a table for each collection. */
export interface QueryFixture {
  readonly database: Database;
  /** The collation that the server folds case by. */
  readonly collation: string;
  /** Replaces all records. */
  fill(world: World): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the tables of the given collections. */
export async function startTables(collections: World['collections']): Promise<QueryFixture> {
  const temporary = await createTemporaryDatabase(serverUrl ?? '');
  const database = await openDatabase({ url: temporary.url, name: 'query', log: createLogger('query', 'silent') });
  for (const text of describeTables(collections)) await database.query({ text, values: [] });
  const [found] = await database.query({
    text: 'select from pg_collation where collname = $1',
    values: [unicodeCollation.replaceAll('"', '')],
  });
  return {
    database,
    collation: found ? unicodeCollation : '"und-x-icu"',
    async fill({ collections, records }) {
      for (const [name, collection] of Object.entries(collections)) {
        await database.query({ text: `delete from records."${name}"`, values: [] });
        await database.query(describeRows(collection, records[name] ?? []));
      }
    },
    async stop() {
      await database.close();
      await temporary.drop();
    },
  };
}

/** A request by a guest that brings nothing, or what a test gives. */
export const requestWith = (values: Partial<RequestValues> = {}): RequestValues => ({
  method: 'GET',
  auth: undefined,
  body: undefined,
  query: () => undefined,
  header: () => undefined,
  ...values,
});
