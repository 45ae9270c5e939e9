import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, prepare } from './firms.ts';

const path = '/api/v1/webhooks';

onEachTopology("a manager reaches no other owner's webhooks [webhooks §9.6]", async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, ann, firms, allow, own, setRule } = await prepare(target, receiver);
  const [north, south] = firms;
  const mine = `owner=firms/${north}`;
  const { path: link } = await admin.post(`${adminPath}/portal`, { owner: { collection: 'firms', id: north } });
  const token = String(link).replace('/_/portal#', '');
  const opened = await target.guest.post(`${path}/portal`, { token }, 200);
  const session = { 'X-Portal-Session': textAt(opened, 'session') };
  const callers: readonly (readonly [string, Client, Record<string, string>])[] = [
    ['a user', ann, {}],
    ["a portal's session", target.guest, session],
  ];

  const ours = await own(north, receiver.url);
  const theirs = await own(south, receiver.url);
  const plain = String((await admin.post(adminPath, { name: 'plain', url: receiver.url, events: ['orders.*'] })).id);
  const deliveryOf = async (id: string): Promise<string> => {
    await admin.post(`${adminPath}/${id}/test`, {}, 200);
    return eventually('it has a delivery', async () => {
      const [one] = listAt((await admin.get(`${adminPath}/${id}/deliveries?status=success`)).json, 'data');
      return one && String(one.id);
    });
  };
  const foreign = await deliveryOf(theirs);
  const routes = (id: string, delivery: string): readonly (readonly [string, string, object?])[] => [
    ['GET', `${path}/${id}`],
    ['PATCH', `${path}/${id}`, { name: 'taken' }],
    ['POST', `${path}/${id}/regenerate-secret`, {}],
    ['GET', `${path}/${id}/status`],
    ['POST', `${path}/${id}/test`],
    ['GET', `${path}/${id}/deliveries`],
    ['GET', `${path}/${id}/deliveries/${delivery}`],
    ['POST', `${path}/${id}/deliveries/${delivery}/redeliver`],
    ['POST', `${path}/${id}/replay`, { since: 0 }],
    ['POST', `${path}/${id}/unblock`, { action: 'skip' }],
    ['DELETE', `${path}/${id}`],
  ];

  for (const [name, client, headers] of callers) {
    const send = (method: string, where: string, body?: object) =>
      client.send(method, `${where}?${mine}`, { headers, ...(body && { body }) });
    await t.test(`${name} gets 404 at every route`, async () => {
      for (const id of [theirs, plain])
        for (const [method, where, body] of routes(id, foreign)) {
          const { status, text } = await send(method, where, body);
          assert.equal(status, 404, `${method} ${where}: ${text}`);
        }
      for (const [method, where] of routes(ours, foreign).filter(([, where]) => where.includes(foreign)))
        assert.equal((await send(method, where)).status, 404, `${method} ${where}`);
    });
    await t.test(`${name} makes no webhook of another owner`, async () => {
      const owner = { collection: 'firms', id: south };
      const body = { name: 'Planted', url: receiver.url, events: ['orders.*'], owner };
      const { json } = await send('POST', path, body);
      assert.deepEqual(at(json, 'data.owner'), { collection: 'firms', id: north });
      const moved = await send('PATCH', `${path}/${at(json, 'data.id')}`, { owner });
      assert.deepEqual(at(moved.json, 'data.owner'), { collection: 'firms', id: north });
      await send('DELETE', `${path}/${at(json, 'data.id')}`);
    });
  }

  await t.test('their webhooks are as they were', async () => {
    for (const id of [theirs, plain]) {
      const { json } = await admin.get(`${adminPath}/${id}`);
      assert.notEqual(at(json, 'data.name'), 'taken');
    }
  });

  await t.test('the answers of a session are repeated for no other caller', async () => {
    const headers = { ...session, 'Idempotency-Key': 'made once' };
    const body = { name: 'Once', url: receiver.url, events: ['orders.*'] };
    const create = (given: Record<string, string>) =>
      target.guest.send('POST', `${path}?${mine}`, { headers: { ...headers, ...given }, body });
    const first = await create({});
    assert.equal(first.status, 201, first.text);
    assert.deepEqual((await create({})).json, first.json, 'its own secret, again');
    const guessed = await create({ 'X-Portal-Session': 'guessed' });
    const without = await target.guest.send('POST', `${path}?${mine}`, {
      headers: { 'Idempotency-Key': 'made once' },
      body,
    });
    assert.deepEqual([guessed.status, without.status], [401, 401]);
    await admin.delete(`${adminPath}/${at(first.json, 'data.id')}`);
  });

  await t.test('many at once make no more than the most', async () => {
    await allow({ max: 7 });
    const body = { name: 'One of many', url: receiver.url, events: ['orders.*'] };
    await eventually('the setting applies', async () => {
      const answers = await Promise.all(
        Array.from({ length: 300 }, () => ann.send('POST', `${path}?${mine}`, { body })),
      );
      const refused = answers.filter(({ status }) => status !== 201);
      assert.ok(refused.every(({ status }) => [422, 429, 503].includes(status)));
      return true;
    });
    const { json } = await ann.get(`${path}?${mine}&perPage=100`);
    assert.ok(Number(at(json, 'totalItems')) <= 10);
    await eventually('the setting is known', async () => {
      const { json } = await ann.send('POST', `${path}?${mine}`, { body });
      return /has 7 webhooks already/.test(String(at(json, 'details.owner')));
    });
    await allow();
  });

  await t.test('a filter of a megabyte is refused or kept, and delays no other owner', async () => {
    const values = Array.from({ length: 90_000 }, (_, n) => `"state ${n}"`).join(',');
    const filter = `record.state in (${values})`;
    const { status, text } = await ann.send('PATCH', `${path}/${ours}?${mine}`, { body: { filter } });
    assert.ok(status === 413 || status === 422, text.slice(0, 200));
    const long = await ann.send('PATCH', `${path}/${ours}?${mine}`, {
      body: { filter: `record.state = "${'a'.repeat(900_000)}"` },
    });
    assert.ok([200, 413, 422].includes(long.status), long.text.slice(0, 200));
    await setRule('firm = @owner.id');
    const { id } = await admin.create('orders', { firm: south });
    await eventually("another owner's events come", () =>
      receiver.deliveries.some(({ json }) => at(json, 'data.record.id') === id),
    );
  });

  await t.test('a redirect is not followed', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(307, { location: new URL('/secret', receiver.url).href }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    await allow({ hosts: [origin], max: 20 });
    const made = await eventually('the setting applies', async () => {
      const body = { name: 'Redirects', url: `${origin}/`, events: ['orders.*'], retry_max: 0 };
      const { status, json } = await ann.send('POST', `${path}?${mine}`, { body });
      return status === 201 && at(json, 'data.id');
    });
    await ann.send('POST', `${path}/${made}/test?${mine}`);
    const dead = await eventually('it is dead', async () =>
      listAt((await ann.get(`${path}/${made}/deliveries?${mine}&status=dead`)).json, 'data').at(0),
    );
    assert.equal(dead.response_code, 307);
    assert.ok(!receiver.deliveries.some((one) => one.path === '/secret'));
    server.close();
    server.closeAllConnections();
  });
});
