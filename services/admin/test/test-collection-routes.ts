import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import type { Field } from '@recordbus/schema';
import { taggedCollectionJson } from '../src/schema/collection-etag.ts';
import { type Answer, startTestAdmin, type TestAdmin } from './test-admin.ts';

export const path = '/api/v1/collections';

/** Field definitions with several types. */
export const allTypes = [
  { name: 'title', type: 'text', required: true, options: { min: 2, max: 50, pattern: '^[A-Z]', unique: true } },
  { name: 'rank', type: 'number', options: { min: 0, max: 10, unique: true } },
  { name: 'draft', type: 'bool' },
  { name: 'due', type: 'date' },
  { name: 'state', type: 'select', options: { values: ['open', 'done'] } },
  { name: 'tags', type: 'select', options: { values: ["o'clock", 'b'], multiple: true } },
  { name: 'parent', type: 'relation', collection: 'posts', options: { cascade: 'cascade' } },
  { name: 'extra', type: 'json' },
];

export const text = (name: string, rest: object = {}) => ({ name, type: 'text', ...rest });
export const relation = (name: string, collection: string, rest: object = {}) => ({
  name,
  type: 'relation',
  collection,
  ...rest,
});

const startMs = 1_700_000_000_000;

/** The collection routes of an admin service that starts before and stops after the calling suite's tests. */
export function testCollectionRoutes() {
  let admin: TestAdmin;
  const clock = { nowMs: startMs };
  before(async () => {
    admin = await startTestAdmin(() => clock.nowMs);
  });
  after(() => admin.stop());
  beforeEach(async () => {
    for (const left of await rows<{ name: string }>('select name from system.collections'))
      await rows(`drop table records."${left.name}" cascade`);
    await rows('delete from system.collections');
    clock.nowMs = startMs;
  });

  const rows = <R>(text: string, values: unknown[] = []) => admin.database.query<R>({ text, values });
  const schemaVersion = async () =>
    (await rows<{ version: number }>("select version from system.versions where name = 'schema'"))[0]?.version ?? 0;

  /** The table in PostgreSQL: columns with types, and definitions of indexes and constraints. */
  async function describeTable(name: string) {
    const columns = await rows<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
      [`records."${name}"`],
    );
    const indexes = await rows<{ text: string }>(
      "select indexdef as text from pg_indexes where schemaname = 'records' and tablename = $1",
      [name],
    );
    const foreignKeys = await rows<{ text: string }>(
      "select pg_get_constraintdef(oid) as text from pg_constraint where conrelid = to_regclass($1) and contype = 'f'",
      [`records."${name}"`],
    );
    return {
      columns: Object.fromEntries(columns.map((column) => [column.name, column.type])),
      indexes: indexes.map((index) => index.text.replace(/^(create.* index) .* on .*? using btree/i, '$1')).sort(),
      foreignKeys: foreignKeys.map((key) => key.text),
    };
  }

  /** Returns the collection in an answer, with its fields parsed. */
  function collectionOf({ status, body }: Answer) {
    assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
    const collection = taggedCollectionJson.strict().parse(body.data);
    const fields: Field[] = JSON.parse(collection.fields);
    return { ...collection, fields };
  }

  const create = async (name: string, fields: object[] = [], rest: object = {}) =>
    collectionOf(await admin.call('POST', path, { name, fields, ...rest }));
  const change = async (name: string, body: object) => collectionOf(await admin.call('PATCH', `${path}/${name}`, body));

  function assertRefused(answer: Answer, status: number, details: Record<string, unknown>) {
    assert.deepEqual([answer.status, answer.body.details], [status, details], JSON.stringify(answer.body));
  }

  return {
    clock,
    call: (...request: Parameters<TestAdmin['call']>) => admin.call(...request),
    database: () => admin.database,
    rows,
    schemaVersion,
    describeTable,
    collectionOf,
    create,
    change,
    assertRefused,
  };
}
