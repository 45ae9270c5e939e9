import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectBus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { type CollectionCache, createCollectionCache } from './collection-cache.ts';

const skip = skipWithoutDatabase;
const log = createLogger('schema-test', 'silent');
// Notices reach the process that sends them, even without the bus.
const bus = connectBus({ urls: 'nats://127.0.0.1:1', name: 'test', log });
after(() => bus.close());

let temporary: OpenTemporaryDatabase;
let database: Database;
let cache: CollectionCache;

if (!skip) {
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    cache = createCollectionCache({ database, bus, log });
    await cache.start();
  });
  after(async () => {
    await cache.stop();
    await temporary.remove();
  });
}

/** Stores a collection as the admin service does: with a new version, in one transaction. */
const store = (name: string) =>
  database.transaction(async (query) => {
    await query({
      text: `insert into system.collections (id, name, type, fields, list_rule, created_at, updated_at)
        values ($1, $1, 'base', '[{"name":"title"}]', '', 5, 6)`,
      values: [name],
    });
    await query({ text: "update system.versions set version = version + 1 where name = 'schema'", values: [] });
  });

test('a collection is read as it is stored', { skip }, async () => {
  assert.deepEqual(cache.all(), []);
  const { version } = cache;
  await store('posts');
  assert.equal(cache.find('posts'), undefined);
  await cache.reload();
  assert.equal(cache.version, version + 1);
  assert.deepEqual(cache.find('posts'), {
    id: 'posts',
    name: 'posts',
    type: 'base',
    fields: [{ name: 'title' }],
    viewQuery: null,
    rules: { list: '', view: null, create: null, update: null, delete: null },
    historyEnabled: false,
    createdAtSec: 5,
    updatedAtSec: 6,
  });
  assert.equal(cache.find('Posts'), undefined);
});

test('a notice replaces the copy; an unchanged schema keeps its objects', { skip }, async () => {
  const posts = cache.find('posts');
  await cache.reload();
  assert.equal(cache.find('posts'), posts);
  await store('tags');
  bus.notify('schema');
  const deadlineMs = performance.now() + 90_000;
  while (!cache.find('tags')) {
    assert.ok(performance.now() < deadlineMs, 'the notice did not arrive');
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('a reload sees what was committed before it, and concurrent reloads share one read', { skip }, async () => {
  const running = cache.reload();
  await store('late');
  const reloads = Array.from({ length: 50 }, () => cache.reload());
  assert.ok(new Set(reloads).size <= 2, 'the running one, if any, and the one after it');
  await Promise.all([running, ...reloads]);
  assert.ok(cache.find('late'));
});

test('a failed reload rejects, and the next one works', { skip }, async () => {
  await database.query({ text: 'alter table system.collections rename to gone', values: [] });
  await assert.rejects(cache.reload());
  assert.ok(cache.find('late'), 'the last copy stays');
  await database.query({ text: 'alter table system.gone rename to collections', values: [] });
  await cache.reload();
});
