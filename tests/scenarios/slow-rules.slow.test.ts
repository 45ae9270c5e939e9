import assert from 'node:assert/strict';
import type { Answer, Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { firstAdmin } from '../harness/stacks/stack.ts';
import { onEachTopology, stackEnvironment, type Target } from '../harness/stacks/target.ts';

// Set at the start, so that the first request counts for the client that it names.
stackEnvironment.SERVICE_TRUSTED_PROXIES = '127.0.0.0/8, ::1';

const open = { list_rule: null, view_rule: null, create_rule: null };
const other = { headers: { 'X-Forwarded-For': '10.9.9.9' } };

/**
 * Creates a collection whose rules compare an 8 MB text in another record 180 times, which takes more than a second.
 */
async function prepareSlowRules(target: Target, admin: Client): Promise<{ id: string; source: string }> {
  const text = [{ name: 'b', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'sources', type: 'base', fields: text, ...open });
  const { id: source } = await admin.create('sources', { b: 'Lorem ipsum dolor sit amet. '.repeat(37_000) });
  await inDatabase(target, 'update records.sources set b = repeat(b, 8) where id = $1', [source]);
  const rule = Array.from({ length: 180 }, (_, n) => `s.b !~ "${n}x"`).join(' && ');
  const fields = [
    { name: 's', type: 'relation', collection: 'sources' },
    { name: 'note', type: 'text' },
  ];
  const rules = { create_rule: rule, update_rule: rule, delete_rule: rule };
  await admin.post('/api/v1/collections', { name: 'guarded', type: 'base', fields, ...open, ...rules });
  await admin.post('/api/v1/collections', { name: 'bystanders', type: 'auth' });
  await admin.post('/api/v1/collections', { name: 'guests', type: 'auth', fields, create_rule: rule });
  const { id } = await admin.create('guarded', { s: source, note: 'first' });
  return { id, source };
}

onEachTopology('a write ends when its rule takes too long [cost §1.6]', async (t, target) => {
  if (target.databaseUrl === undefined) return;
  const admin = await target.admin();
  const { id, source } = await prepareSlowRules(target, admin);
  const path = `/api/v1/guarded/${id}`;
  const countOf = async (collection: string) => at((await admin.get(`/api/v1/${collection}`)).json, 'totalItems');
  await admin.patch('/api/v1/admin/settings', { 'records.read_timeout_ms': '200' });
  const credentialsOf = (name: string) => ({ email: `${name}@example.com`, password: firstAdmin.password });
  const update = (note: string) => target.guest.send('PATCH', path, { body: { note } });
  const register = () => {
    const body = { ...credentialsOf('late'), s: source };
    return target.guest.send('POST', '/api/v1/auth/guests/register', { body });
  };
  await eventually('the limit applies', async () => (await update('first')).status === 422);
  await eventually('the limit applies to registrations', async () => {
    const { status, json } = await register();
    if (status === 201) await admin.delete(`/api/v1/guests/${textAt(json, 'data.record.id')}`);
    return status === 422;
  });
  const writes: Readonly<Record<string, () => Promise<Answer>>> = {
    'a create': () => target.guest.send('POST', '/api/v1/guarded', { body: { s: source, note: 'second' } }),
    'an update': () => update('changed'),
    'a delete': () => target.guest.send('DELETE', path),
    'a registration': register,
  };
  for (const [name, write] of Object.entries(writes))
    await t.test(`${name} is refused, and nothing is written`, async () => {
      const answer = await write();
      assert.deepEqual([answer.status, textAt(answer.json, 'code')], [422, 'too_expensive']);
      assert.equal(textAt((await admin.get(path)).json, 'data.note'), 'first');
      assert.deepEqual([await countOf('guarded'), await countOf('guests')], [1, 0]);
    });
  await t.test('many of them leave connections for a sign-in and for other writes', async () => {
    const slow = Promise.all(Array.from({ length: 40 }, (_, n) => writes[n % 2 ? 'a create' : 'a registration']?.()));
    const others: readonly (readonly [path: string, body: object])[] = [
      ['/api/v1/auth/bystanders/register', credentialsOf('other')],
      ['/api/v1/sources', { b: 'x' }],
    ];
    for (const [path, body] of others) {
      const { status, text } = await target.guest.send('POST', path, { ...other, body });
      assert.equal(status, 201, text);
    }
    for (const answer of await slow) assert.ok([422, 429, 503].includes(answer?.status ?? 0), answer?.text);
  });
  await t.test('rules do not apply to admins', async () => {
    await admin.patch(path, { note: 'changed' });
    await admin.delete(path);
  });
});
