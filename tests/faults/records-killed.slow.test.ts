import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { startStack } from '../harness/stacks/stack.ts';

/** A dead process's idempotency key is held until its lease expires, in milliseconds. */
const leaseTimeoutMs = 60_000;

/** One create stores its answer in its own statement, the other claims its key first. */
const collections = ['orders', 'payments'] as const;

test('a create with an idempotency key that is repeated after the records service was killed happens once [docs/reliability]', async () => {
  await using stack = await startStack({ topology: 'processes' });
  const { guest } = stack;
  const root = await stack.admin();
  await root.post('/api/v1/collections', { name: 'orders', type: 'base', fields: [] });
  const card = { name: 'card', type: 'text', options: { encrypted: true } };
  await root.post('/api/v1/collections', { name: 'payments', type: 'base', fields: [card] });
  const headers = { 'X-Service-Idempotency-Key': randomUUID() };
  const create = (name: string) => guest.send('POST', `/api/v1/${name}`, { body: {}, headers });
  const killed = stack.services.records?.pid ?? 0;

  const database = new pg.Client(stack.ground.databaseUrl);
  await database.connect();
  // A transaction sees only the sessions from its first look, so another client looks for the wait.
  const observer = new pg.Client(stack.ground.databaseUrl);
  await observer.connect();
  try {
    await database.query('begin; lock table records.orders, records.payments');
    const interrupted = collections.map(create);
    await eventually('the creates wait in the database', async () => {
      const { rows } = await observer.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length === collections.length;
    });
    process.kill(killed, 'SIGKILL');
    for (const { status } of await Promise.all(interrupted)) assert.ok(status >= 500);
    await database.query('rollback');
  } finally {
    await Promise.all([database.end(), observer.end()]);
  }

  await eventually('the service runs again', () => stack.services.records?.pid !== killed);
  await Promise.all(collections.map((name) => repeatUntilDone(name, () => create(name))));
  for (const name of collections) assert.equal(at((await guest.get(`/api/v1/${name}`)).json, 'totalItems'), 1);
});

/** Repeats a create whose first request died. The server may have finished its last statement. */
async function repeatUntilDone(name: string, create: () => Promise<Answer>): Promise<void> {
  const refusals = new Set<number>();
  const answer = await eventually(
    `the key of ${name} is free`,
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
  const again = await create();
  assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', answer.text]);
}
