import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findSearchIndex, knownWordsTableOf, loadCollection } from '@recordbus/schema';
import { eventually } from '@recordbus/testing';
import { skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';
import { createPruning } from './prune-known-words.ts';

describe('known words that no record has', { skip }, () => {
  let admin: TestAdmin;
  let known: string;
  let prune: () => Promise<void>;

  const run = <R>(text: string, values: readonly unknown[] = []) => admin.database.query<R>({ text, values });
  const write = (id: string, title: string, lang = 'en') =>
    run(
      `insert into records.posts (id, created_at, updated_at, title, lang) values ($1, 1, 1, $2, $3)
       on conflict (id) do update set title = excluded.title`,
      [id, title, lang],
    );
  const words = async () => (await run<{ word: string }>(`select word from ${known} order by word`)).map((r) => r.word);
  const becomes = (expected: readonly string[]) =>
    eventually(async () => {
      await prune();
      return JSON.stringify(await words()) === JSON.stringify(expected);
    });

  before(async () => {
    admin = await startTestAdmin();
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'lang', type: 'select', options: { values: ['en', 'ja'] } },
    ];
    await admin.call('POST', '/api/v1/collections', { name: 'posts', type: 'base', fields });
    const index = { name: 'words', type: 'search', fields: [{ field: 'title' }], language: { field: 'lang' } };
    const { status } = await admin.call('POST', '/api/v1/admin/collections/posts/indexes', index);
    assert.equal(status, 201);
    const [row] = await run<{ id: string }>("select id from system.collections where name = 'posts'");
    const collection = await loadCollection(admin.database.query, row?.id ?? '');
    const made = collection && findSearchIndex(collection);
    assert.ok(collection && made);
    known = knownWordsTableOf(collection, made);
    const pruning = createPruning(admin.database);
    prune = () => pruning(collection, made);
  });
  after(() => admin?.stop());

  test('are forgotten after a deletion and a change; others stay [search §1.5]', async () => {
    await write('a', 'The gardens of Rome');
    await write('b', 'A garden in Paris');
    await write('c', 'Café 東京 tower', 'ja');
    const all = ['cafe', 'garden', 'gardens', 'paris', 'rome', 'the', 'tower'];
    await eventually(async () => JSON.stringify(await words()) === JSON.stringify(all));
    await write('b', 'A garden in Oslo');
    await run("delete from records.posts where id = 'a'");
    // `gardens` is found by `garden`. No search looks for a stop word.
    await becomes(['cafe', 'garden', 'gardens', 'oslo', 'the', 'tower']);
    await run("delete from records.posts where id = 'c'");
    await becomes(['garden', 'gardens', 'oslo', 'the']);
  });

  test('are forgotten in batches, and known again once a record has them', async () => {
    const many = Array.from(
      { length: 500 },
      (_, n) => `word${String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26))}`,
    );
    await write('many', many.join(' '));
    await eventually(async () => (await words()).length > many.length);
    await run("delete from records.posts where id = 'many'");
    await becomes(['garden', 'gardens', 'oslo', 'the']);
    await write('again', 'wordaa');
    await eventually(async () => (await words()).includes('wordaa'));
  });
});
