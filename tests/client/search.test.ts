import assert from 'node:assert/strict';
import { createClient, f } from '@recordbus/client';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

onOneProcess('the client searches, and lists by ids', async (t, target) => {
  const admin = await target.admin();
  const texts = ['title', 'kind'].map((name) => ({ name, type: 'text' }));
  const fields = [...texts, { name: 'mood', type: 'vector', options: { dimensions: 2 } }];
  await admin.post('/api/v1/collections', { name: 'books', type: 'base', fields, list_rule: null });
  const index = { name: 'words', type: 'search', fields: [{ field: 'title' }], language: 'english' };
  await admin.post('/api/v1/admin/collections/books/indexes', index);
  const isReady = async () => (await admin.get('/api/v1/books?search=x')).status === 200;
  await eventuallyOnEveryReplica('the index is ready', isReady);
  const one = await admin.create('books', { title: 'Sea stories', kind: 'novel', mood: [1, 0] });
  const two = await admin.create('books', { title: 'Museum', kind: 'poem', mood: [0, 1] });
  const client = createClient(target.url);
  const books = client.from('books');

  await t.test('in one collection', async () => {
    const page = await books.search('stories or museums', { facets: ['kind'], highlight: ['title'], sort: 'title' });
    assert.deepEqual(
      page.data.map(({ id, _highlight }) => [id, _highlight?.title]),
      [
        [two.id, '<mark>Museum</mark>'],
        [one.id, 'Sea <mark>stories</mark>'],
      ],
    );
    assert.deepEqual([page.totalItems, page.facets, page.more], [2, { kind: { novel: 1, poem: 1 } }, []]);
    const [best] = (await books.search('sea museum', { searchMode: 'any', filter: f`kind = ${'poem'}` })).data;
    assert.ok(best && best.id === two.id && best._score > 0);
    await assert.rejects(books.search('sea', { searchFields: ['kind'] }), { status: 400 });
  });

  await t.test('for words and a vector', async () => {
    const near = { field: 'mood', vector: [1, 0] };
    const ids = async (hybrid: number) => (await books.search('museum', { near, hybrid })).data.map(({ id }) => id);
    assert.deepEqual([await ids(0), await ids(0.4), await ids(1)], [[two.id], [two.id, one.id], [one.id, two.id]]);
    const [found] = await client.search([{ collection: 'books', search: 'sea', near, hybrid: 1 }]);
    assert.ok('data' in found && found.data.length === 2);
  });

  await t.test('in several collections', async () => {
    const [found, refused] = await client.search([
      { collection: 'books', search: 'museum', filter: f`kind = ${'poem'}`, fields: ['title'] },
      { collection: 'nothing', search: 'museum' },
    ]);
    assert.ok('data' in found && 'error' in refused);
    assert.deepEqual([found.data, refused.status], [[{ id: two.id, title: 'Museum' }], 404]);
  });

  await t.test('lists by ids, and with a filter that is too long for an address', async () => {
    const listed = await books.list({ ids: [two.id, 'nobody', one.id], sort: 'ids' });
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      [two.id, one.id],
    );
    const titles = Array.from({ length: 999 }, (_, n) => `${'x'.repeat(40)}${n}`);
    const long = await books.list({ filter: f`title in ${['Museum', ...titles]}` });
    assert.deepEqual(
      long.data.map(({ id }) => id),
      [two.id],
    );
  });
});
