import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { makeKey } from './service-keys.ts';

const text = (name: string) => ({ name, type: 'text' });
const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
const closed = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };

/** Two collections that refer to each other. Guests may do everything in `far`, and nothing in `near`. */
async function prepare(target: Target) {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'far',
    type: 'base',
    ...open,
    history_enabled: true,
    fields: [text('word'), { name: 'n', type: 'number' }, { name: 'doc', type: 'file' }],
  });
  await admin.post('/api/v1/collections', {
    name: 'near',
    type: 'base',
    ...closed,
    history_enabled: true,
    fields: [
      text('title'),
      { ...text('hidden'), view_rule: '', write_rule: '' },
      { name: 'one', type: 'relation', collection: 'far' },
      { name: 'many', type: 'relation', collection: 'far', options: { multiple: true } },
      { name: 'doc', type: 'file', options: { protected: true } },
    ],
  });
  const field = { name: 'back', type: 'relation', collection: 'near' };
  await admin.post('/api/v1/collections/far/fields', field);
  const first = await admin.create('far', { word: 'red', n: 1 });
  const second = await admin.create('far', { word: 'blue', n: 2 });
  const ids = [first.id, second.id];
  const near: string[] = [];
  for (const [index, one] of [...ids, null].entries()) {
    const made = await admin.create('near', { title: `t${index}`, hidden: `h${index}`, one, many: one ? ids : [] });
    near.push(made.id);
  }
  await admin.patch(`/api/v1/far/${first.id}`, { back: near[0] });
  return { admin, far: ids, near };
}

/** Paths in `near` that lead into `far`. */
const paths = [
  'one.word',
  'one.n',
  'one.id',
  'one.created',
  'one.back.title',
  'many.word',
  'many.id',
  'many.n',
  'far_via_back.word',
  'far_via_back.id',
  'far_via_back.n',
];

const conditions = [
  ...paths.flatMap((path) => [
    `${path} = "red"`,
    `${path} != "red"`,
    `${path} > 1`,
    `${path} ~ "e"`,
    `not (${path} = "red")`,
    `all(${path} = "red")`,
    `none(${path} = "red")`,
    `${path} = null`,
    `${path} in ("red", "blue")`,
    `title = "t0" || ${path} = "red"`,
  ]),
  'exists(far, word = "red")',
  'not exists(far, word = "red")',
  'exists(far, back = record.id)',
  'exists(near, one.word = "red")',
  'count(far_via_back) > 0',
  'count(many) > 1',
  'count(many.back) > 0',
  'one.word:length > 3',
  'one.word:lower = "red"',
  'distance(one.place, 0, 0) < 1',
];

/** Queries on `near` that try to show data from `far`. */
const queries = [
  ...conditions.map((filter) => `filter=${encodeURIComponent(filter)}`),
  ...paths.flatMap((path) => [`sort=${path}`, `sort=-${path}`]),
  'expand=one',
  'expand=many',
  'expand=one.back',
  'expand=far_via_back',
  `expand=${encodeURIComponent('far_via_back(sort:-word,limit:1,total:1)')}`,
  `expand=${encodeURIComponent('far_via_back(filter:word="red")')}`,
  'fields=*,expand.one.word&expand=one',
];

const aggregates = [
  ...paths.flatMap((path) => [`group=${path}&count=1`, `max=${path}`, `count=1&group=title&sort=${path}`]),
  ...conditions.map((filter) => `count=1&filter=${encodeURIComponent(filter)}`),
];

/** Returns the answers and refusals that a key gets for these queries. */
async function readAll(key: Client, id: string): Promise<Map<string, string>> {
  const urls = [
    ...queries.flatMap((query) => [`/api/v1/near?${query}`, `/api/v1/near?cursor=&${query}`]),
    ...queries
      .filter((_, index) => index % 5 === 0)
      .map((query) => `/api/v1/records/near/export?format=ndjson&${query}`),
    ...aggregates.map((query) => `/api/v1/records/near/aggregate?${query}`),
    `/api/v1/near/${id}?expand=one,many,far_via_back`,
    `/api/v1/near/${id}/history`,
  ];
  const read = new Map<string, string>();
  for (const url of urls) {
    const { status, text } = await key.get(url);
    assert.ok([200, 400, 403].includes(status), `${url}: ${status} ${text}`);
    read.set(url, `${status} ${text}`);
  }
  return read;
}

onEachTopology('a key with one collection learns nothing about another', async (t, target) => {
  const { admin, far, near } = await prepare(target);
  const key = await makeKey(target, ['records:near:read', 'files', 'collections:read']);
  const writer = await makeKey(target, ['records:near:write', 'records:near:delete']);
  const [firstFar = ''] = far;
  const [firstNear = ''] = near;

  await t.test("it passes the collection's and its fields' rules [keys §5.1]", async () => {
    const list = listAt((await key.get('/api/v1/near?sort=title')).json, 'data');
    assert.deepEqual(
      list.map(({ hidden }) => hidden),
      ['h0', 'h1', 'h2'],
    );
    assert.equal(
      (await key.get(`/api/v1/near?filter=${encodeURIComponent('hidden = "h1"')}`)).json !== undefined,
      true,
    );
    assert.equal((await key.get(`/api/v1/near/${firstNear}`)).status, 200);
    assert.equal((await target.guest.get('/api/v1/near')).status, 403);
  });

  await t.test("its reads do not depend on other collections' records [keys §5.3]", async () => {
    const before = await readAll(key, firstNear);
    await admin.patch(`/api/v1/far/${firstFar}`, { word: 'green', n: 70, back: null });
    await admin.patch(`/api/v1/far/${far[1]}`, { word: 'red', n: 0, back: firstNear });
    await admin.create('far', { word: 'red', n: 3, back: near[2] });
    const after = await readAll(key, firstNear);
    const differing = [...before].filter(([url, answer]) => after.get(url) !== answer).map(([url]) => url);
    assert.deepEqual(differing, []);
    for (const [url, answer] of after)
      assert.ok(
        !/red|green|blue/.test(answer.replace(/"[^"]*(?:there is no|unknown)[^"]*"/g, '')) || answer.startsWith('400'),
        url,
      );
  });

  await t.test('a missing scope is 403 even if guests may [keys §4.2]', async () => {
    assert.equal((await target.guest.get('/api/v1/far')).status, 200);
    for (const [method, path, body] of [
      ['GET', '/api/v1/far'],
      ['GET', `/api/v1/far/${firstFar}`],
      ['GET', `/api/v1/records/far/${firstFar}/history`],
      ['GET', '/api/v1/records/far/aggregate?count=1'],
      ['POST', '/api/v1/far', { word: 'x' }],
      ['PATCH', `/api/v1/far/${firstFar}`, { word: 'x' }],
      ['PUT', `/api/v1/far/${firstFar}`, { word: 'x' }],
      ['PUT', '/api/v1/far?on=word', { word: 'x' }],
      ['DELETE', `/api/v1/far/${firstFar}`],
      ['POST', `/api/v1/far/${firstFar}/restore`, { at: 1 }],
      ['GET', '/api/v1/nowhere'],
      ['POST', '/api/v1/near', { title: 'x' }],
      ['PATCH', `/api/v1/near/${firstNear}`, { title: 'x' }],
      ['DELETE', `/api/v1/near/${firstNear}`],
      ['POST', `/api/v1/near/${firstNear}/restore`, { at: 1 }],
    ] as const) {
      const answer = await key.send(method, path, { body });
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.status} ${answer.text}`);
      assert.match(answer.text, /"code":"scope_missing"/);
    }
  });

  await t.test('a key that writes stays within its collection [keys §5.2]', async () => {
    const made = await writer.create('near', { title: 'own', hidden: 'h', one: firstFar });
    assert.equal((await writer.get(`/api/v1/near/${made.id}?expand=one`)).text.includes('"word"'), false);
    assert.equal(textAt(await writer.patch(`/api/v1/near/${made.id}`, { hidden: 'i' }), 'hidden'), 'i');
    const batch = (operations: readonly unknown[]) => writer.send('POST', '/api/v1/batch', { body: { operations } });
    const create = { op: 'create', collection: 'near', data: { title: 'in a batch' } };
    assert.equal((await batch([create])).status, 200);
    const mixed = await batch([create, { op: 'create', collection: 'far', data: { word: 'x' } }]);
    assert.equal(mixed.status, 403, mixed.text);
    assert.equal(objectAt(mixed.json, 'details').index, 1);
    const restored = await writer.send('POST', `/api/v1/near/${made.id}/restore?at=${made.created}`);
    assert.equal(restored.status, 200, restored.text);
    await writer.delete(`/api/v1/near/${made.id}`);
  });

  await t.test('a delete cascades as it does for everyone [keys §5.4]', async () => {
    await admin.post('/api/v1/collections/near/fields', {
      name: 'parent',
      type: 'relation',
      collection: 'near',
      options: { cascade: 'cascade' },
    });
    const probe = { title: 'probe', parent: null };
    await eventually('the service knows the field', async () => {
      return (await admin.send('POST', '/api/v1/near', { body: probe })).status === 201;
    });
    const root = await writer.create('near', { title: 'root' });
    const child = await writer.create('near', { title: 'child', parent: root.id });
    await admin.patch(`/api/v1/near/${root.id}`, { parent: child.id });
    await writer.delete(`/api/v1/near/${root.id}`);
    assert.equal((await key.get(`/api/v1/near/${child.id}`)).status, 404);
  });

  await t.test('files need their own scope, and stay within the collection [keys §3.2]', async () => {
    const upload = async (collection: string, by: Client) => {
      const form = multipart(file('doc', 'note.txt', 'a note'));
      const answer = await by.send('POST', `/api/v1/${collection}`, form);
      assert.equal(answer.status, 201, answer.text);
      const { id, doc } = objectAt(answer.json, 'data');
      return `/api/v1/files/${collection}/${id}/${doc}`;
    };
    const ofNear = await upload('near', writer);
    const ofFar = await upload('far', admin);
    const download = await key.get(ofNear);
    assert.equal(download.text, 'a note');
    assert.match(String(download.headers['cache-control']), /private/);
    assert.equal((await writer.get(ofNear)).status, 403, 'no scope for files');
    assert.equal((await target.guest.get(ofFar)).status, 200);
    assert.equal((await key.get(ofFar)).status, 403);
    const token = textAt(await key.post('/api/v1/files/token', {}, 200), 'token');
    assert.equal((await target.guest.get(`${ofNear}?token=${token}`)).status, 200);
    await admin.patch(`/api/v1/admin/keys/${key.id}`, { scopes: ['records:near:read', 'collections:read'] });
    await eventually(
      'the token ends with the scope',
      async () => (await target.guest.get(`${ofNear}?token=${token}`)).status === 401,
    );
  });
});
