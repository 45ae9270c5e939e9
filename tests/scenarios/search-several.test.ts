import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at, listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { makeKey } from './service-keys.ts';

const text = (name: string) => ({ name, type: 'text' });
const path = '/api/v1/search';

onEachTopology('one request searches in several collections', async (t, target) => {
  const admin = await target.admin();
  const make = async (name: string, rules: object) => {
    await admin.post('/api/v1/collections', { name, type: 'base', fields: [text('title'), text('kind')], ...rules });
    const index = { name: 'words', type: 'search', fields: [{ field: 'title' }], language: 'english' };
    await admin.post(`/api/v1/admin/collections/${name}/indexes`, index);
    const isReady = async () => (await admin.get(`/api/v1/${name}?search=x`)).status === 200;
    await eventuallyOnEveryReplica(`${name} is indexed`, isReady);
  };
  await make('books', { list_rule: 'kind != "hidden"' });
  await make('writers', { list_rule: null });
  await make('drafts', { list_rule: '' });
  await make('asked', { list_rule: '@request.query.filter ~ "sea" && @request.method = "GET"' });
  await admin.post('/api/v1/collections', { name: 'plain', type: 'base', fields: [text('title')], list_rule: null });
  const sea = await admin.create('books', { title: 'The sea, the sea', kind: 'novel' });
  await admin.create('books', { title: 'A sea of secrets', kind: 'hidden' });
  const writer = await admin.create('writers', { title: 'A writer at sea' });
  await admin.create('drafts', { title: 'Sea' });
  await admin.create('asked', { title: 'Sea' });

  const send = (client: Client, queries: readonly unknown[]) => client.send('POST', path, { body: { queries } });
  const statuses = async (client: Client, queries: readonly unknown[]) => {
    const { status, json, text } = await send(client, queries);
    assert.equal(status, 200, text);
    return listAt(json, 'data').map((one) => one.status);
  };
  const search = (collection: string, more: object = {}) => ({ collection, search: 'sea', ...more });
  const malformed = (name: string, body: unknown, ...fields: string[]): Scenario => ({
    name,
    request: `POST ${path}`,
    body,
    expect: refused.invalid(...fields),
    spec: 'search §6.1',
  });

  await runScenarios(t, target, [
    {
      name: 'each query has its answer, or its refusal',
      request: `POST ${path}`,
      body: {
        queries: [
          search('books', { fields: ['title'], highlight: ['title'], facets: 'kind', perPage: 1 }),
          search('drafts'),
          search('writers', { fields: 'title,_score' }),
          search('plain'),
          search('nowhere'),
        ],
      },
      expect: {
        status: 200,
        json: {
          data: [
            {
              status: 200,
              data: [{ id: sea.id, title: sea.title }],
              page: 1,
              perPage: 1,
              totalItems: 1,
              totalPages: 1,
              facets: { kind: { novel: 1 } },
              more: [],
            },
            { status: 403, error: is.text, code: 'forbidden' },
            is.containing({ status: 200, data: [{ id: writer.id, title: writer.title, _score: is.number }] }),
            { status: 400, error: is.text, code: 'malformed_request', details: { search: is.text } },
            { status: 404, error: is.text, code: 'not_found' },
          ],
        },
      },
      spec: 'search §6.2',
    },
    malformed('no queries', {}, 'queries'),
    malformed('an empty list', { queries: [] }, 'queries'),
    malformed('11 queries', { queries: Array.from({ length: 11 }, () => search('books')) }, 'queries'),
    malformed('an unknown member', { queries: [search('books')], page: 1 }, 'page'),
  ]);

  await t.test('a query is refused for what the list would refuse, and the others answer [search §6.2]', async () => {
    const wrong = [
      null,
      'books',
      {},
      { collection: 'books' },
      { search: 'sea' },
      { collection: 1, search: 'sea' },
      search('books', { search: ' ' }),
      search('books', { colour: 'red' }),
      search('books', { page: 1.5 }),
      search('books', { page: '1' }),
      search('books', { sort: 'colour' }),
      search('books', { filter: 'kind = ' }),
      search('books', { searchMode: 'most' }),
      search('books', { cursor: '' }),
      search('books', { nearVector: [1], nearVectorField: 'title' }),
      search('books', { facets: [1] }),
      search('b\u0000ks'),
    ];
    for (const one of wrong) {
      const [first, second] = await statuses(target.guest, [one, search('books')]);
      assert.ok(first === 400 || first === 404, `${JSON.stringify(one)}: ${first}`);
      assert.equal(second, 200);
    }
  });

  await t.test('no text is an error [search §2.2]', async () => {
    const hostile = ['\u0000sea', '\ud800', '\udfff sea', `${'\ud83d'.repeat(300)}`, '\u{10ffff}', "'\\:*&|!()"];
    for (const one of hostile) {
      const body = JSON.stringify({ queries: [search('books', { search: one, searchMode: 'any' })] });
      const headers = { 'Content-Type': 'application/json' };
      const { status, text } = await target.guest.send('POST', path, { rawBody: body, headers });
      // No body may have half a surrogate pair.
      assert.ok(
        status === 200 || (status === 422 && text.includes('surrogate')),
        `${JSON.stringify(one)}: ${status} ${text}`,
      );
      if (status === 200) assert.ok([200, 400].includes(Number(at(JSON.parse(text), 'data.0.status'))), text);
    }
  });

  await t.test('rules read each query as the list [search §6.3]', async () => {
    const queries = [search('asked'), search('asked', { filter: 'title ~ "sea"' })];
    const { json } = await send(target.guest, queries);
    assert.deepEqual([at(json, 'data.0.totalItems'), at(json, 'data.1.totalItems')], [0, 1]);
  });

  await t.test('it is a read: a key that only reads one collection finds there alone [search §6.3]', async () => {
    const reader = await makeKey(target, ['records:drafts:read']);
    assert.deepEqual(await statuses(reader, [search('drafts'), search('writers')]), [200, 403]);
    const files = await makeKey(target, ['files']);
    assert.equal((await send(files, [search('drafts')])).status, 403);
    const key = { 'Idempotency-Key': 'one' };
    const first = await target.guest.send('POST', path, { body: { queries: [search('writers')] }, headers: key });
    await admin.create('writers', { title: 'Another at sea' });
    const second = await target.guest.send('POST', path, { body: { queries: [search('writers')] }, headers: key });
    assert.deepEqual([at(first.json, 'data.0.totalItems'), at(second.json, 'data.0.totalItems')], [1, 2]);
  });

  await t.test('the answers together are no larger than one [search §6.3]', async () => {
    await make('long', { list_rule: null });
    await admin.create('long', { title: `sea ${'x '.repeat(400_000)}` });
    await admin.patch('/api/v1/admin/settings', { 'records.max_answer_bytes': '2097152' });
    const queries = [search('long'), search('long'), search('long'), search('writers')];
    await eventuallyOnEveryReplica('the bound is known', async () => {
      const { json } = await send(target.guest, queries);
      return listAt(json, 'data').some(({ code }) => code === 'answer_too_large');
    });
    assert.deepEqual(await statuses(target.guest, queries), [200, 200, 422, 200]);
  });
});
