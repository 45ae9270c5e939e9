import assert from 'node:assert/strict';
import type { Collection } from '@recordbus/schema';
import { type Answer, type RecordsFixture, type Sent, type ShownRecord, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

export interface HistoryRow {
  readonly id: string;
  readonly op: string;
  readonly snapshot: Readonly<Record<string, unknown>>;
  readonly actor_id: string | null;
  readonly actor_type: string;
  readonly at: number;
  readonly version: string;
}

interface HistoryPage {
  readonly data: HistoryRow[];
  readonly page: number;
  readonly perPage: number;
  readonly totalItems: number;
  readonly totalPages: number;
}

/** Collections that keep a history, and short calls for their records. Paths are `<collection>/<id>`. */
export interface HistoryFixture {
  readonly records: RecordsFixture;
  create(collection: string, body: object | string, sent?: Sent): Promise<ShownRecord>;
  patch(path: string, body: object | string, sent?: Sent): Promise<ShownRecord>;
  remove(path: string): Promise<void>;
  historyOf(path: string, query?: string, sent?: Sent): Promise<HistoryPage>;
  restore(path: string, at: number | string, sent?: Sent): Promise<Answer>;
  restoreVersion(path: string, version: number | string, sent?: Sent): Promise<Answer>;
  /** Changes a collection's fields with the given DDL, as the admin service does. */
  redefine(collection: Collection, fields: Collection['fields'], ...ddl: string[]): Promise<void>;
}

export const allowAll = { list: null, view: null, create: null, update: null, delete: null };

export const posts = testCollection(
  'posts',
  [
    { name: 'title', options: { unique: true } },
    { name: 'stars', type: 'number' },
    { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
    { name: 'meta', type: 'json' },
    { name: 'author', type: 'relation', collection: 'authors' },
  ],
  { historyEnabled: true },
);

const asAdmin: Sent = { as: 'admin' };

/** Starts the records service with collections that refer to each other. */
export async function startHistory(): Promise<HistoryFixture> {
  const records = await startRecords([
    testCollection('authors', [{ name: 'name' }], { historyEnabled: true }),
    posts,
    testCollection('bare', [], { historyEnabled: true }),
    testCollection('secrets', [{ name: 'owner' }, { name: 'author', type: 'relation', collection: 'authors' }], {
      historyEnabled: true,
      rules: { ...allowAll, view: 'owner = @request.auth.id || author.name = "Open"' },
    }),
  ]);

  return {
    records,
    async create(collection, body, sent = {}) {
      const { status, text, record } = await records.send('POST', `/api/${collection}`, { ...sent, body });
      assert.equal(status, 201, text);
      return record;
    },
    async patch(path, body, sent = {}) {
      const { status, text, record } = await records.send('PATCH', `/api/${path}`, { ...sent, body });
      assert.equal(status, 200, text);
      return record;
    },
    async remove(path) {
      assert.equal((await records.send('DELETE', `/api/${path}`)).status, 200);
    },
    async historyOf(path, query = '', sent = asAdmin) {
      const { status, text, json } = await records.send('GET', `/api/${path}/history${query}`, sent);
      assert.equal(status, 200, text);
      return json.data as HistoryPage;
    },
    restore: (path, at, sent = asAdmin) => records.send('POST', `/api/${path}/restore?at=${at}`, sent),
    restoreVersion: (path, version, sent = asAdmin) =>
      records.send('POST', `/api/${path}/restore?version=${version}`, sent),
    async redefine(collection, fields, ...ddl) {
      for (const text of ddl) await records.database.query({ text, values: [] });
      await records.database.query({
        text: 'update system.collections set fields = $1 where id = $2',
        values: [JSON.stringify(fields), collection.id],
      });
      await records.database.query({ text: 'update system.versions set version = version + 1', values: [] });
      await records.send('GET', '/api/absent');
    },
  };
}
