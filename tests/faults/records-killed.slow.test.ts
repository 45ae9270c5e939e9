import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { startStack } from '../harness/stack.ts';

/** The idempotency key of a dead process is held until its lease expires, in milliseconds. */
const leaseTimeoutMs = 60_000;

test('a create with an idempotency key that is repeated after the records service was killed happens once [docs/reliability]', async () => {
  await using stack = await startStack({ topology: 'processes' });
  const { guest } = stack;
  await (await stack.admin()).post('/api/v1/collections', { name: 'orders', type: 'base', fields: [] });
  const headers = { 'X-Service-Idempotency-Key': randomUUID() };
  const create = () => guest.send('POST', '/api/v1/orders', { body: {}, headers });
  const killed = stack.services.records?.pid ?? 0;

  const database = new pg.Client(stack.ground.databaseUrl);
  await database.connect();
  // A transaction sees only the sessions that existed when it first looked, so another client looks for the wait.
  const observer = new pg.Client(stack.ground.databaseUrl);
  await observer.connect();
  try {
    await database.query('begin; lock table records.orders');
    const interrupted = create();
    await eventually('the create waits in the database', async () => {
      const { rows } = await observer.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    process.kill(killed, 'SIGKILL');
    assert.ok((await interrupted).status >= 500);
    await database.query('rollback');
  } finally {
    await Promise.all([database.end(), observer.end()]);
  }

  await eventually('the service runs again', () => stack.services.records?.pid !== killed);
  const refusals = new Set<number>();
  const answer = await eventually(
    'the key is free',
    async () => {
      const attempt = await create();
      if (attempt.status === 201) return attempt;
      refusals.add(attempt.status);
      return undefined;
    },
    { timeoutMs: leaseTimeoutMs, intervalMs: 200 },
  );
  // Until the service is back, the gateway may answer that it is unavailable.
  assert.deepEqual(
    [...refusals].filter((status) => status !== 409 && status !== 503),
    [],
  );
  assert.equal(answer.headers['idempotency-replayed'], undefined);
  const again = await create();
  assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', answer.text]);
  assert.equal(at((await guest.get('/api/v1/orders')).json, 'totalItems'), 1);
});
