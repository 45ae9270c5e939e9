import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth/payers';
const collections = '/api/v1/collections';

const outcome = ({ status, json }: Answer) => [status, at(json, 'code')];
const proofRequired = [403, 'proof_required'];

onEachTopology('fresh_s demands a recent sign-in for writes [collections §1.8]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post(collections, { name: 'payers', type: 'auth' });
  await admin.post(collections, { name: 'payments', fresh_s: 600, fields: [{ name: 'amount', type: 'number' }] });
  await admin.post(collections, { name: 'notes', fields: [{ name: 'text', type: 'text' }] });
  const email = 'ada@example.com';
  const clientOf = ({ status, json, text }: Answer): Client => {
    assert.ok(status < 300, text);
    return createClient(target.url, textAt(json, 'data.token'));
  };
  const registered = await guest.send('POST', `${auth}/register`, { body: { email, password } });
  const id = textAt(registered.json, 'data.record.id');
  const login = async () => clientOf(await guest.send('POST', `${auth}/login`, { body: { email, password } }));
  const pay = (client: Client) => client.send('POST', '/api/v1/payments', { body: { amount: 1 } });
  /** Makes a session's sign-in older, as time does. */
  const age = async (client: Client, seconds: number) => {
    const session = listAt((await client.get(`${auth}/sessions`)).json, 'data').find(({ current }) => current);
    await inDatabase(target, 'update system.sessions set signed_in_at = signed_in_at - $2 where id = $1', [
      session?.id,
      seconds,
    ]);
    await inDatabase(target, 'insert into system.revocations (subject) values ($1)', [session?.id]);
  };
  const payment = await admin.create('payments', { amount: 5 });
  const one = `/api/v1/payments/${payment.id}`;

  await t.test('a fresh sign-in writes; an old one reads, and does not write', async () => {
    const client = await login();
    assert.equal((await pay(client)).status, 201);
    await age(client, 601);
    await eventually('the sign-in is old', async () => (await pay(client)).status === 403);
    for (const [method, path, body] of [
      ['POST', '/api/v1/payments', { amount: 1 }],
      ['POST', '/api/v1/payments', { wrong: 1 }],
      ['PATCH', one, { amount: 6 }],
      ['PUT', one, { amount: 6 }],
      ['DELETE', one, undefined],
    ] as const)
      assert.deepEqual(outcome(await client.send(method, path, { body })), proofRequired, `${method} ${path}`);
    const operations = [
      { op: 'create', collection: 'notes', data: { text: 'x' } },
      { op: 'create', collection: 'payments', data: { amount: 1 } },
    ];
    const batch = await client.send('POST', '/api/v1/batch', { body: { operations } });
    assert.deepEqual(outcome(batch), proofRequired);
    assert.equal(listAt((await client.get('/api/v1/notes')).json, 'data').length, 0, 'the batch writes nothing');
    assert.equal((await client.send('GET', one)).status, 200);
    assert.equal((await client.send('POST', '/api/v1/notes', { body: { text: 'x' } })).status, 201);
    const refreshed = clientOf(await client.send('POST', '/api/v1/auth/refresh'));
    assert.deepEqual(outcome(await pay(refreshed)), proofRequired, 'a refresh is no sign-in');
    assert.equal((await pay(await login())).status, 201);
  });

  await t.test('an admin who acts as the user has no sign-in; admins and guests need none', async () => {
    const acting = clientOf(await admin.send('POST', `/api/v1/admin/impersonate/payers/${id}`));
    assert.deepEqual(outcome(await pay(acting)), proofRequired);
    assert.equal((await pay(admin)).status, 201);
    assert.equal((await pay(guest)).status, 201);
  });

  await t.test('it is changed, kept and removed', async () => {
    const path = `${collections}/payments`;
    const current = async () => at((await admin.get(path)).json, 'data.fresh_s');
    await admin.patch(path, { list_rule: '' });
    assert.equal(await current(), 600, 'another change keeps it');
    const schema = objectAt((await admin.get('/api/v1/admin/schema')).json, 'data');
    assert.equal(listAt(schema, 'collections').find(({ name }) => name === 'payments')?.fresh_s, 600);
    const client = await login();
    await age(client, 700);
    await eventually('the sign-in is old', async () => (await pay(client)).status === 403);
    await admin.patch(path, { fresh_s: 3600 });
    await eventually('the longer time applies', async () => (await pay(client)).status === 201);
    await admin.patch(path, { fresh_s: null });
    assert.equal(await current(), undefined);
  });

  await t.test('bad values are refused', async () => {
    for (const value of [0, 59, -1, 1.5, 31_536_001, '600', true, []]) {
      const { status, json } = await admin.send('PATCH', `${collections}/payments`, { body: { fresh_s: value } });
      assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['fresh_s']], String(value));
    }
    const view = { name: 'sums', type: 'view', view_query: 'select id, amount from payments', fresh_s: 600 };
    const { status, json } = await admin.send('POST', collections, { body: view });
    assert.equal(status, 422);
    assert.equal('fresh_s' in objectAt(json, 'details'), true);
  });
});
