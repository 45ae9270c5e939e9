import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import type { RecordJson } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { define, encrypted, rowsIn, secrets, shown } from './vault.ts';

const spec = 'fields §4';
const plainWords = /harbour|spy@/;

const historyTable = (collection: JsonObject): string => `history."${textAt(collection, 'id')}"`;

onEachTopology('encrypted fields are stored as ciphertext and read in plain text', async (t, target) => {
  const { databaseUrl, natsUrl, guest } = target;
  if (databaseUrl === undefined || natsUrl === undefined) return t.skip('this stack runs elsewhere');
  const admin = await target.admin();
  const vault = await define(
    admin,
    'vault',
    [
      { name: 'title', type: 'text' },
      encrypted('note', 'text', { min: 3, max: 30 }),
      encrypted('mail', 'email'),
      encrypted('site', 'url'),
      encrypted('extra', 'json'),
      { name: 'v', type: 'vector', options: { dimensions: 2 } },
    ],
    { history_enabled: true },
  );
  await define(admin, 'cases', [{ name: 'file', type: 'relation', collection: 'vault' }]);
  await using bus = await openBusReader(natsUrl, { isFromNow: true });
  const record = await guest.create('vault', { title: 'one', ...secrets, v: [1, 0] });
  const path = `/api/v1/vault/${record.id}`;

  await t.test('the writer and every reader see the values', async () => {
    assert.deepEqual(shown(record), secrets);
    const expanding = await guest.create('cases', { file: record.id });
    const answers = {
      get: (await guest.get(path)).json,
      list: (await guest.get('/api/v1/vault?skipTotal=1')).json,
      search: (await guest.get('/api/v1/vault?nearVector=[1,0]&nearVectorField=v')).json,
      expanded: (await guest.get(`/api/v1/cases/${expanding.id}?expand=file`)).json,
      expandedList: (await guest.get('/api/v1/cases?expand=file')).json,
    };
    assert.deepEqual(shown(objectAt(answers.get, 'data')), secrets);
    assert.deepEqual(shown(listAt(answers.list, 'data')[0] ?? {}), secrets);
    assert.deepEqual(shown(listAt(answers.search, 'data')[0] ?? {}), secrets);
    assert.deepEqual(shown(objectAt(answers.expanded, 'data.expand.file')), secrets);
    assert.deepEqual(shown(objectAt(listAt(answers.expandedList, 'data')[0], 'expand.file')), secrets);
    const projected = await guest.get(`${path}?fields=note`);
    assert.deepEqual(projected.json, { data: { id: record.id, note: secrets.note } });
  });

  await t.test('a write replaces only the values that it names', async () => {
    assert.deepEqual(shown(await guest.patch(path, { title: 'two' })), secrets);
    const changed = await guest.patch(path, { note: 'meet at the pier', extra: 'enough' });
    assert.deepEqual(shown(changed), { ...secrets, note: 'meet at the pier', extra: 'enough' });
    const cleared = await guest.patch(path, { note: '', mail: null });
    assert.deepEqual([cleared.note, cleared.mail], ['', null]);
  });

  await t.test('history shows and restores the values', async () => {
    const history = listAt((await guest.get(`${path}/history`)).json, 'data.data');
    assert.deepEqual(shown(objectAt(history.at(-1), 'snapshot')), secrets);
    const answer = await admin.send('POST', `${path}/restore?version=${record.updated}`, { body: {} });
    assert.deepEqual(shown(objectAt(answer.json, 'data')), secrets);
  });

  await t.test('no table has the values in plain text', async () => {
    const rows = await rowsIn(databaseUrl, 'records.vault', historyTable(vault), 'system.outbox', 'system.audit');
    assert.ok(rows.length >= 6);
    assert.deepEqual(
      rows.filter((row) => plainWords.test(row)),
      [],
    );
    const [stored = ''] = await rowsIn(databaseUrl, 'records.vault');
    for (const name of Object.keys(secrets))
      assert.match(String(JSON.parse(stored)[name]), /^enc:1:[\w-]{16}:[\w-]{22,}$/, name);
  });

  await t.test('events leave the fields out', async () => {
    const events = () => bus.events.filter(({ subject }) => subject.startsWith('events.vault.'));
    await eventually('all events are published', () => events().length >= 5);
    for (const { body } of events()) {
      assert.doesNotMatch(JSON.stringify(body), plainWords);
      assert.doesNotMatch(JSON.stringify(body), /"(note|mail|site|extra)"|enc:1:/);
    }
  });

  await t.test('a user registers with an encrypted field', async () => {
    await admin.post('/api/v1/collections', { name: 'agents', type: 'auth', fields: [encrypted('cover')] });
    const body = { email: 'bond@example.com', password: 'a long and winding password', cover: 'sells carpets' };
    const session = await guest.post('/api/v1/auth/agents/register', body);
    assert.equal(textAt(session, 'record.cover'), 'sells carpets');
    const { email, password } = body;
    const again = await guest.post('/api/v1/auth/agents/login', { email, password }, 200);
    assert.equal(textAt(again, 'record.cover'), 'sells carpets');
    assert.doesNotMatch((await rowsIn(databaseUrl, 'records.agents')).join(), /carpets/);
  });

  await t.test('limits apply to the value, not to the ciphertext', (inner) => checkRefusals(inner, target, path));
  await t.test('setting and clearing the option converts the values', () => toggleEncryption(target, databaseUrl));
});

/** Refused definitions, values and expressions. */
async function checkRefusals(t: TestContext, target: Target, path: string): Promise<void> {
  const collection = (name: string, ...fields: object[]) => ({ name, type: 'base', fields });
  const row = (name: string, rest: Pick<Scenario, 'request' | 'expect'> & Partial<Scenario>): Scenario => ({
    name,
    spec,
    as: 'admin',
    ...rest,
  });
  const define = 'POST /api/v1/collections';
  const inParameter = (parameter: string) => refused.malformedWith({ [parameter]: is.text });
  await runScenarios(t, target, [
    ...['text', 'email', 'url'].map((type) =>
      row(`a unique encrypted field of type ${type}`, {
        request: define,
        body: collection('drafts', encrypted('note', type, { unique: true })),
        expect: refused.invalid('fields.note.options.unique'),
      }),
    ),
    row('an encrypted number', {
      request: define,
      body: collection('drafts', encrypted('n', 'number')),
      expect: refused.naming('encrypted'),
    }),
    row('an index on an encrypted field', {
      request: 'POST /api/v1/admin/collections/vault/indexes',
      body: { name: 'by_note', columns: ['note'] },
      expect: refused.invalid('columns'),
    }),
    row('a view that reads an encrypted field', {
      request: define,
      body: { name: 'drafts', type: 'view', view_query: 'select id, note from vault' },
      expect: refused.naming('note'),
    }),
    row('a rule on an encrypted field', {
      request: define,
      body: { ...collection('drafts', encrypted('note')), list_rule: 'note = "a"' },
      expect: refused.invalid('list_rule'),
    }),
    row('a filter on an encrypted field', {
      request: 'GET /api/v1/vault?filter=note="a"',
      expect: inParameter('filter'),
    }),
    row('a sort by an encrypted field', { request: 'GET /api/v1/vault?sort=note', expect: inParameter('sort') }),
    row('a filter on an encrypted field across a relation', {
      request: 'GET /api/v1/cases?filter=file.note~"a"',
      expect: inParameter('filter'),
    }),
    row('a value that is too short', {
      request: `PATCH ${path}`,
      body: { note: 'ab' },
      expect: refused.invalid('note'),
    }),
    row('a value that is too long', {
      request: `PATCH ${path}`,
      body: { note: 'a'.repeat(31) },
      expect: refused.invalid('note'),
    }),
    row('a value that is not an address', {
      request: `PATCH ${path}`,
      body: { mail: 'spy' },
      expect: refused.invalid('mail'),
    }),
    row('a text that begins like ciphertext', {
      request: `PATCH ${path}`,
      body: { note: 'enc:1:x' },
      expect: refused.invalid('note'),
    }),
    row('a limit that an encrypted value violates', {
      request: 'PATCH /api/v1/collections/vault',
      body: { fields: await fieldsOf(target, 'vault', { note: { encrypted: true, max: 5 } }) },
      expect: {
        status: 422,
        json: { ...refused.invalid().json, details: { 'fields.note.options.max': '1 row violates it' } },
      },
    }),
  ]);
}

/** Returns a collection's fields, with some options replaced. */
async function fieldsOf({ admin }: Target, name: string, options: Readonly<Record<string, object>>): Promise<object[]> {
  const answer = await (await admin()).get(`/api/v1/collections/${name}`);
  const fields: { name: string }[] = JSON.parse(textAt(answer.json, 'data.fields'));
  return fields.map((field) => (options[field.name] ? { ...field, options: options[field.name] } : field));
}

async function toggleEncryption(target: Target, databaseUrl: string): Promise<void> {
  const admin = await target.admin();
  const { guest } = target;
  const diary = await define(
    admin,
    'diary',
    [
      { name: 'page', type: 'text' },
      { name: 'data', type: 'json' },
    ],
    {
      history_enabled: true,
    },
  );
  const made: RecordJson[] = [];
  for (let count = 0; count < 40; count += 1)
    made.push(await guest.create('diary', { page: `dear diary ${count}`, data: { mood: count } }));
  await guest.patch(`/api/v1/diary/${made[0]?.id}`, { page: 'dear diary, again' });
  const change = async (isEncrypted: boolean, status = 200) => {
    const options = { page: { encrypted: isEncrypted }, data: { encrypted: isEncrypted } };
    const body = { fields: await fieldsOf(target, 'diary', options) };
    const answer = await admin.send('PATCH', '/api/v1/collections/diary', { body });
    assert.equal(answer.status, status, answer.text);
  };
  const rows = () => rowsIn(databaseUrl, 'records.diary', historyTable(diary));
  const isRead = async () => {
    const { json } = await guest.get('/api/v1/diary?sort=created&perPage=100');
    const pages = listAt(json, 'data').map(({ page, data }) => JSON.stringify([page, data]));
    return pages.includes('["dear diary, again",{"mood":0}]') && pages.includes('["dear diary 39",{"mood":39}]');
  };

  await change(true);
  assert.deepEqual(
    (await rows()).filter((row) => /dear diary|mood/.test(row)),
    [],
  );
  assert.equal((await rows()).filter((row) => /enc:1:.*enc:1:/.test(row)).length, 81);
  await eventually('the values are read', isRead);
  const history = listAt((await guest.get(`/api/v1/diary/${made[0]?.id}/history`)).json, 'data.data');
  assert.deepEqual(
    history.map((row) => textAt(row, 'snapshot.page')),
    ['dear diary, again', 'dear diary 0'],
  );

  await change(false);
  assert.deepEqual(
    (await rows()).filter((row) => /enc:1:/.test(row)),
    [],
  );
  await eventually('the values are read', isRead);
  // A plain text with the ciphertext prefix could not be told from ciphertext.
  await eventually('a plain text is accepted', async () => {
    const sent = { body: { page: 'enc:1:plain' } };
    return (await guest.send('POST', '/api/v1/diary', sent)).status === 201;
  });
  await change(true, 422);
}
