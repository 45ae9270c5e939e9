import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { startPostgres } from '../harness/servers/servers.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';
import { killDuringRelaxedWrites } from './relaxed-writes.ts';

for (const topology of topologiesOrInCi('processes')) {
  test(`services reconnect by themselves when the database returns (${topology})`, async (t) => {
    await using postgres = await startPostgres();
    await using ground = await createGround({ url: postgres.url, drop: async () => {} });
    await using stack = await startStack({ topology, ground });
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', { name: 'ledger', type: 'base', fields: [] });
    const kept = await stack.guest.create('ledger', {});
    const limits = [
      { label: '/api/v1/limited', max: 3, windowMs: 3_600_000 },
      { label: '/api/v1/health', max: 10_000, windowMs: 3_600_000 },
    ];
    await admin.patch('/api/v1/admin/settings', {
      'rate_limit.enabled': '1',
      'rate_limit.rules': JSON.stringify(limits),
    });
    await eventually('the gateway uses these rules', async () => {
      const { headers } = await stack.guest.get('/api/v1/health');
      return headers['ratelimit-limit'] === '10000';
    });
    await using bus = await openBusReader(stack.natsUrl);
    const services = topology === 'processes' ? Object.entries(stack.services) : [['the stack', stack] as const];
    const withDatabase = services.filter(([name]) => name !== 'gateway');
    const pids = () => [stack.process.pid, ...Object.values(stack.services).map(({ pid }) => pid)];
    const pidsBefore = pids();

    const isBack = async () => {
      await eventually(
        'a record is read',
        async () => (await stack.guest.get(`/api/v1/ledger/${kept.id}`)).status === 200,
      );
      const { id } = await eventually('a record is written', async () => {
        const answer = await stack.guest.send('POST', '/api/v1/ledger', { body: {} });
        return answer.status === 201 ? { id: at(answer.json, 'data.id') } : undefined;
      });
      await eventually('its event is published', () =>
        bus.events.some(({ body }) => at(body, 'data.record.id') === id),
      );
      for (const [name, { url }] of services)
        await eventually(`${name} is ready`, async () => (await createClient(url).get('/readyz')).status === 200);
      assert.deepEqual(pids(), pidsBefore, 'no process was restarted');
    };

    await postgres.stop();
    await t.test('readiness reports it, and liveness does not [http §11.1, §11.2]', async () => {
      for (const [name, { url }] of withDatabase) {
        const service = createClient(url);
        await eventually(`${name} is not ready`, async () => (await service.get('/readyz')).status === 503);
        assert.equal((await service.get('/healthz')).status, 200);
      }
    });
    await t.test('requests get 503 with Retry-After [http §4.6]', async () => {
      const unavailable = { error: is.text, code: 'unavailable' };
      for (const answer of [
        await stack.guest.get(`/api/v1/ledger/${kept.id}`),
        await stack.guest.get('/api/v1/ledger'),
        await stack.guest.send('POST', '/api/v1/ledger', { body: {} }),
      ]) {
        assert.equal(answer.status, 503, answer.text);
        assert.deepEqual(differences(answer.json, unavailable), []);
        assert.match(String(answer.headers['retry-after']), /^\d+$/);
      }
    });
    await t.test('rate limits still apply [http §8.11]', async () => {
      const statuses: number[] = [];
      for (let request = 0; request < 5; request += 1) statuses.push((await stack.guest.get('/api/v1/limited')).status);
      assert.deepEqual(statuses, [503, 503, 503, 429, 429]);
    });
    await postgres.start();
    await t.test('after an orderly restart everything works [docs/reliability]', isBack);

    await postgres.kill();
    await postgres.start();
    await t.test('after a crash everything works [docs/reliability]', isBack);

    await t.test('a crash during relaxed writes loses only the last ones [collections §1.6]', () =>
      killDuringRelaxedWrites(stack, postgres, bus),
    );
  });
}
