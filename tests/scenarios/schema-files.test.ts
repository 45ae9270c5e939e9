import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at, type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/admin/schema';

/** The stack's schema, with changes to some collections' files. */
async function schemaWith(admin: Client, changes: Record<string, (file: JsonObject) => JsonObject>) {
  const { json } = await admin.get(path);
  const collections = listAt(json, 'data.collections');
  const migrations = listAt(json, 'data.migrations');
  return { version: 1, collections: collections.map((file) => changes[String(file.name)]?.(file) ?? file), migrations };
}

async function apply(admin: Client, schema: object, allowed: readonly string[] = []): Promise<JsonObject> {
  const { hash } = await admin.post(`${path}/plan`, { schema }, 200);
  return admin.post(`${path}/apply`, { schema, hash, allow_drop: allowed }, 200);
}

const fieldsOf = ({ fields }: JsonObject) => fields as JsonObject[];
const withField = (name: string, change: object) => (file: JsonObject) => ({
  ...file,
  fields: fieldsOf(file).map((field) => (field.name === name ? { ...field, ...change } : field)),
});

onEachTopology('schema files are planned and applied', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const body = { schema: { version: 1, collections: [] } };
  await runScenarios(t, target, [
    { name: 'a guest reads no schema', request: `GET ${path}`, expect: refused.unauthenticated, spec: 'schema §1' },
    {
      name: 'a guest plans nothing',
      request: `POST ${path}/plan`,
      body,
      expect: refused.unauthenticated,
      spec: 'schema §1',
    },
    {
      name: 'a guest applies nothing',
      request: `POST ${path}/apply`,
      body,
      expect: refused.unauthenticated,
      spec: 'schema §1',
    },
    {
      name: 'a document of another version',
      as: 'admin',
      request: `POST ${path}/plan`,
      body: { schema: { version: 2, collections: [] } },
      expect: refused.invalid('schema.version'),
      spec: 'schema §2.1',
    },
    {
      name: 'an id that is not a UUID, and a name twice',
      as: 'admin',
      request: `POST ${path}/plan`,
      body: { schema: { version: 1, collections: [{ id: 'x', name: 'bad' }] } },
      expect: refused.invalid('collections.bad.id'),
      spec: 'schema §2.2',
    },
    {
      name: 'an apply without the hash of a plan',
      as: 'admin',
      request: `POST ${path}/apply`,
      body,
      expect: refused.invalid('hash'),
      spec: 'schema §4.3',
    },
    {
      name: 'an apply with another hash',
      as: 'admin',
      request: `POST ${path}/apply`,
      body: { ...body, hash: 'sha256:0' },
      expect: {
        status: 409,
        json: { error: 'the schema has changed since the plan: plan again', code: 'schema_moved' },
      },
      spec: 'schema §4.3',
    },
  ]);
  for (const [method, route] of [
    ['GET', path],
    ['POST', `${path}/plan`],
    ['POST', `${path}/apply`],
  ] as const)
    assert.equal((await user.send(method, route, method === 'GET' ? {} : { body })).status, 403);

  await admin.post('/api/v1/collections', {
    name: 'secrets',
    list_rule: null,
    history_enabled: true,
    fields: [
      { name: 'plain', type: 'text' },
      { name: 'near', type: 'vector', options: { dimensions: 2 } },
      { name: 'note', type: 'text' },
    ],
  });
  const { id } = await admin.create('secrets', { plain: 'hello', near: [1, 0], note: 'n' });

  await t.test('a renamed field is encrypted with its values, in one apply [schema §4.1]', async () => {
    const schema = await schemaWith(admin, {
      secrets: withField('plain', { name: 'hidden', options: { encrypted: true } }),
    });
    const planned = await admin.post(`${path}/plan`, { schema }, 200);
    assert.deepEqual(planned.locks, [
      {
        collection: 'secrets',
        waits: 'reads and writes',
        reasons: ['rename plain', 'encrypt hidden'],
        rewrites: true,
        records: 1,
      },
    ]);
    await apply(admin, schema);
    const [row] = await inDatabase(target, 'select hidden from records.secrets', []);
    assert.match(String(row?.hidden), /^enc:1:/);
    assert.equal(objectAt((await admin.get(`/api/v1/secrets/${id}`)).json, 'data').hidden, 'hello');
    await apply(admin, await schemaWith(admin, { secrets: withField('hidden', { name: 'plain', options: {} }) }));
    assert.deepEqual(await inDatabase(target, 'select plain from records.secrets', []), [{ plain: 'hello' }]);
  });

  await t.test("an apply's defaults, field rules and vectors take effect on every replica [schema §4.6]", async () => {
    await apply(
      admin,
      await schemaWith(admin, {
        secrets: (file) => ({
          ...file,
          list_rule: 'state = "open"',
          fields: [
            ...fieldsOf(file).map((field) => (field.name === 'note' ? { ...field, view_rule: '' } : field)),
            { name: 'state', type: 'select', options: { values: ['open', 'done'], default: 'open' } },
          ],
        }),
      }),
    );
    await eventuallyOnEveryReplica('the new field is shown', async () => {
      const { json } = await admin.get(`/api/v1/secrets/${id}`);
      return objectAt(json, 'data').state === null;
    });
    const made = await admin.create('secrets', { near: [0, 1] });
    assert.deepEqual([made.state, made.near], ['open', [0, 1]]);
    const { json } = await target.guest.get('/api/v1/secrets');
    assert.deepEqual(
      listAt(json, 'data').map((record) => [record.id, record.note]),
      [[made.id, undefined]],
    );
    const { json: found } = await admin.get(`/api/v1/secrets/${id}`);
    assert.deepEqual(objectAt(found, 'data').near, [1, 0]);
  });

  await t.test('an apply has one audit row, and an apply without changes has none [schema §4.6]', async () => {
    const rows = async () => listAt((await admin.get('/api/v1/admin/audit?action=schema.apply')).json, 'data');
    const before = await rows();
    assert.deepEqual(before[0]?.actor_type, 'admin');
    assert.deepEqual(objectAt(before[0], 'details').changes, [
      'change collection secrets',
      'create field secrets.state',
      'change field secrets.note',
    ]);
    assert.deepEqual((await apply(admin, await schemaWith(admin, {}))).changes, []);
    assert.equal((await rows()).length, before.length);
  });

  await t.test('a migration gives changed records their next version, and no event [schema §5.5]', async () => {
    const before = await admin.get(`/api/v1/secrets/${id}`);
    const schema = await schemaWith(admin, {});
    const migrations = [
      ...schema.migrations,
      {
        name: '7-notes',
        sql: "update secrets set note = 'changed' where plain is not null; insert into secrets (note) values ('new')",
      },
    ];
    await apply(admin, { ...schema, migrations });
    const { headers, json } = await admin.get(`/api/v1/secrets/${id}`);
    assert.equal(objectAt(json, 'data').note, 'changed');
    assert.notEqual(headers.etag, before.headers.etag);
    const { json: all } = await admin.get('/api/v1/secrets');
    assert.deepEqual([at(all, 'totalItems'), listAt(all, 'data').length], [3, 3]);
    await apply(admin, await schemaWith(admin, {}));
  });

  await runScenarios(t, target, [
    {
      name: 'the current schema shows no secret',
      as: 'admin',
      request: `GET ${path}`,
      expect: { status: 200, json: { data: is.containing({ version: 1 }) } },
      spec: 'schema §2.5',
    },
  ]);
  const schema = await schemaWith(admin, {});
  const rest = { ...schema, collections: schema.collections.filter(({ name }) => name !== 'secrets') };
  await apply(admin, rest, ['secrets']);
  assert.equal((await admin.get('/api/v1/secrets')).status, 404);
});
