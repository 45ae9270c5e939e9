import assert from 'node:assert/strict';
import { objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology("only admins choose an account's id", async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'putters', type: 'auth', fields: [], create_rule: null });
  const account = { email: 'ada@example.com', password: 'a long and winding password' };
  const login = async () => (await target.guest.send('POST', '/api/v1/auth/putters/login', { body: account })).json;
  const at = (more: object): Scenario => ({
    name: '',
    request: 'PUT /api/v1/putters/ada',
    body: account,
    spec: 'records §17.5',
    expect: { status: 200 },
    ...more,
  });
  await runScenarios(t, target, [
    at({ name: 'a guest', expect: refused.forbidden }),
    at({ name: 'an admin', as: 'admin', expect: { status: 201 }, events: ['putters.create'] }),
    at({ name: 'a guest, for an existing account', expect: refused.forbidden }),
  ]);
  await t.test('not one in another collection [records §17.2]', async () => {
    await admin.post('/api/v1/collections', { name: 'chippers', type: 'auth', fields: [] });
    const put = async (collection: string, id: string) => {
      const body = { ...account, email: `${collection}-${id}@example.com` };
      const answer = await admin.send('PUT', `/api/v1/${collection}/${id}`, { body });
      if (answer.status === 422) assert.deepEqual(Object.keys(objectAt(answer.json, 'details')), ['id']);
      return answer.status;
    };
    assert.equal(await put('chippers', 'ada'), 422);
    assert.equal(await put('chippers', 'bob'), 201);
    assert.equal(await put('chippers', 'bob'), 200);
    const ids = Array.from({ length: 12 }, (_, index) => `golfer-${index}`);
    const both = await Promise.all(ids.map((id) => Promise.all([put('putters', id), put('chippers', id)])));
    for (const statuses of both) assert.deepEqual(statuses.toSorted(), [201, 422]);
  });
  await t.test("an earlier account's token with the id is void", async () => {
    const token = textAt(await login(), 'data.token');
    const headers = { Authorization: `Bearer ${token}` };
    const own = () => target.guest.send('GET', '/api/v1/putters/ada', { headers });
    assert.equal((await own()).status, 200);
    const change = await target.guest.send('PUT', '/api/v1/putters/ada', {
      headers,
      body: { password: 'another long password' },
    });
    assert.deepEqual([change.status, Object.keys(objectAt(change.json, 'details'))], [422, ['old_password']]);
    await admin.delete('/api/v1/putters/ada');
    assert.equal((await admin.send('PUT', '/api/v1/putters/ada', { body: account })).status, 201);
    assert.equal((await own()).status, 401);
  });
});
