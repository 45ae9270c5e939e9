import assert from 'node:assert/strict';
import pg from 'pg';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { onEachTopology, stackEnvironment, type Target } from '../harness/stacks/target.ts';
import { auth, createUsers, password, signUp } from './users.ts';

stackEnvironment.SERVICE_TRUSTED_PROXIES = '127.0.0.0/8, ::1';

onEachTopology("guests' batches do not stop other clients [batch §4.7]", async (t, target) => {
  const admin = await target.admin();
  const users = await createUsers(target);
  await signUp(target, users, 'probe@example.com');
  await admin.post('/api/v1/collections', { name: 'lines', type: 'base', fields: [{ name: 'a', type: 'text' }] });
  const { id: other } = await admin.create('lines', { a: 'other' });
  const probe = () => probeOthers(target, users, other);
  const send = (address: string, operations: readonly object[]) =>
    target.guest.send('POST', '/api/v1/batch', { ...at(address), body: { operations } });

  await t.test('while 30 batches of 1,000 creates run', async () => {
    const creates = Array.from({ length: 1000 }, () => ({ op: 'create', collection: 'lines', data: { a: 'x' } }));
    const batches = Promise.all(Array.from({ length: 30 }, (_, n) => send(`10.3.0.${n % 6}`, creates)));
    const [answers, rounds] = await Promise.all([batches, probeDuring(batches, probe)]);
    assert.ok(rounds >= 1);
    for (const code of codesOf(answers)) assert.ok(['200', '429 rate_limited', '503 unavailable'].includes(code), code);
    assert.ok(codesOf(answers).includes('200'));
  });

  await t.test('while 60 batches wait for one record', async () => {
    if (target.databaseUrl === undefined) return;
    const { id } = await admin.create('lines', { a: 'held' });
    await using client = await holdRecord(target.databaseUrl, id);
    const change = [{ op: 'update', collection: 'lines', id, data: { a: 'y' } }];
    const batches = Promise.all(Array.from({ length: 60 }, (_, n) => send(`10.4.0.${n % 15}`, change)));
    await eventually('batches wait for the record', async () => (await client.waiting()) >= 4);
    await probe();
    await client.release();
    // On a busy machine the others' requests take so long that batches have given up waiting.
    for (const code of codesOf(await batches)) assert.ok(['200', '503 unavailable'].includes(code), code);
    await eventually('the record can be changed', async () => (await send('10.4.1.1', change)).status === 200);
  });
});

const at = (address: string) => ({ headers: { 'X-Forwarded-For': address } });

const codesOf = (answers: readonly Answer[]): string[] =>
  answers.map(({ status, json }) => (status < 300 ? String(status) : `${status} ${textAt(json, 'code')}`));

/**
 * Sends another client's requests. Each has to succeed. Health is asked again: on a busy machine its checks may take longer
 * than the two seconds that they have.
 */
async function probeOthers({ guest }: Target, users: string, other: string): Promise<void> {
  const login = { email: 'probe@example.com', password };
  const probes: readonly (readonly [method: string, path: string, more: object])[] = [
    ['GET', `/api/v1/lines/${other}`, {}],
    ['POST', '/api/v1/lines', { body: { a: 'probe' } }],
    ['PATCH', `/api/v1/lines/${other}`, { body: { a: 'probe' } }],
    ['POST', `${auth}/${users}/login`, { body: login }],
    ['GET', '/api/v1/lines?perPage=10', {}],
  ];
  for (const [method, path, more] of probes) {
    const { status, text } = await guest.send(method, path, { ...at('10.9.9.9'), ...more });
    assert.ok(status === 200 || status === 201, `${method} ${path}: ${status} ${text}`);
  }
  await eventually('the stack is ready', async () => (await guest.send('GET', '/readyz')).status === 200);
}

/** Probes until the work ends. Returns how many rounds it made. */
async function probeDuring(work: Promise<unknown>, probe: () => Promise<void>): Promise<number> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void work.then(end, end);
  let rounds = 0;
  for (; !isOver; rounds += 1) await probe();
  return rounds;
}

/** Holds a record in `lines` for a transaction that writes it. */
async function holdRecord(databaseUrl: string, id: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('select from records.lines where id = $1 for update', [id]);
  return {
    /** How many statements wait for a lock. */
    async waiting(): Promise<number> {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from pg_locks where not granted',
      );
      return rows[0]?.count ?? 0;
    },
    release: () => client.query('rollback'),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
