import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt, textAt } from '../harness/json.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { loggedErrors } from '../harness/processes/logs.ts';
import { startSecondGateway } from '../harness/stacks/service-process.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const codeOf = ({ status, json }: Answer): string => `${status} ${textAt(json, 'code')}`;

test('a hanging service is 504, a missing one is 503, and the others continue [docs/gateway]', async (t) => {
  await using stack = await startStack({ topology: 'processes' });
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [] });
  const { id } = await admin.create('notes', {});
  await using gateway = await startSecondGateway(stack, {
    SERVICE_ANSWER_TIMEOUT_MS: '1000',
    SERVICE_AUTH_URL: `http://127.0.0.1:${await findFreePort()}`,
  });
  const { guest } = gateway;
  await eventually(
    'the gateway has the routes of records',
    async () => (await guest.get('/api/v1/notes')).status === 200,
  );

  await t.test('a missing service gets 503 with Retry-After', async () => {
    for (const path of ['/api/v1/auth/notes/login', '/api/v1/admin/login']) {
      const answer = await guest.send('POST', path, { body: {} });
      assert.equal(codeOf(answer), '503 unavailable');
      assert.match(String(answer.headers['retry-after']), /^\d+$/);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    }
  });

  const { pid = 0 } = stack.services.records ?? {};
  process.kill(pid, 'SIGSTOP');
  try {
    await t.test('a request to a hanging service times out, even during a write', async () => {
      assert.equal(codeOf(await guest.get(`/api/v1/notes/${id}`)), '504 upstream_timeout');
      assert.equal(codeOf(await guest.send('POST', '/api/v1/notes', { body: {} })), '504 upstream_timeout');
    });
    await t.test('health reports both services, and the others as ok [http §11.2]', async () => {
      const health = await guest.get('/api/v1/health');
      assert.equal(health.status, 200);
      assert.deepEqual(
        ['status', 'services.records', 'services.auth', 'services.admin'].map((path) =>
          textAt(health.json, `data.${path}`),
        ),
        ['degraded', 'unavailable', 'unavailable', 'ok'],
      );
      assert.equal((await guest.get('/readyz')).status, 503);
      assert.equal((await guest.get('/healthz')).status, 200);
      assert.equal((await guest.get('/api/v1/admin/settings')).status, 401);
    });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await t.test('requests succeed when the service continues', async () => {
    await eventually('a record is read', async () => (await guest.get(`/api/v1/notes/${id}`)).status === 200);
  });
});

test('in one process a service that waits for the database is 504 too, and its late write happens once [docs/gateway]', async () => {
  await using ground = await createGround();
  const environment = { SERVICE_ANSWER_TIMEOUT_MS: '2000' };
  await using stack = await startStack({ topology: 'one', ground, environment });
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [] });
  const { id } = await admin.create('notes', {});
  await using ending = new AsyncDisposableStack();
  const database = ending.adopt(new pg.Client({ connectionString: ground.databaseUrl }), (client) => client.end());
  await database.connect();
  const headers = { 'X-Service-Idempotency-Key': 'late' };
  const create = () => admin.send('POST', '/api/v1/notes', { body: {}, headers });

  await database.query('begin; lock table records.notes in exclusive mode');
  const writes = [create(), admin.send('PATCH', `/api/v1/notes/${id}`, { body: {} })];
  assert.deepEqual((await Promise.all(writes)).map(codeOf), ['504 upstream_timeout', '504 upstream_timeout']);
  assert.equal((await admin.get(`/api/v1/notes/${id}`)).status, 200);
  await database.query('rollback');

  await eventually('the create is repeated', async () => (await create()).headers['idempotency-replayed'] === 'true');
  assert.equal(numberAt((await admin.get('/api/v1/notes')).json, 'totalItems'), 2);
  assert.deepEqual(loggedErrors(stack.process.lines), []);
});
