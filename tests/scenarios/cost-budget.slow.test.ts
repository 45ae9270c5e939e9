import assert from 'node:assert/strict';
import pg from 'pg';
import type { Answer, Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { firstAdmin, userCollection } from '../harness/stacks/stack.ts';
import { onEachTopology, replicaCount, stackEnvironment, type Target } from '../harness/stacks/target.ts';

// Set at the start, so that the first request counts for the client that it names.
stackEnvironment.SERVICE_TRUSTED_PROXIES = '127.0.0.0/8, ::1';

const open = { list_rule: null, view_rule: null, create_rule: null };
const credentials = { email: 'probe@example.com', password: firstAdmin.password };

/** Rows with which the view `product` takes minutes. */
const productRows = 120;

/** Creates a collection, a view over it that takes minutes, and a record and an account for another client. */
async function prepare(target: Target): Promise<{ admin: Client; other: string }> {
  const admin = await target.admin();
  await target.user();
  await target.guest.send('POST', `/api/v1/auth/${userCollection}/register`, { body: credentials });
  const number = { name: 'v', type: 'number' };
  await admin.post('/api/v1/collections', { name: 'numbers', type: 'base', fields: [number], ...open });
  await admin.post('/api/v1/collections', {
    name: 'product',
    type: 'view',
    view_query: `select a.id, (select count(*) from numbers b, numbers c, numbers d, numbers e
      where b.v <> a.v and b.v <> c.v and c.v <> d.v and d.v <> e.v) as pairs from numbers a`,
    list_rule: null,
    view_rule: null,
  });
  for (let v = 0; v < productRows; v += 1) await admin.create('numbers', { v });
  await admin.patch('/api/v1/admin/settings', { 'records.read_timeout_ms': '1000' });
  await eventually('the read timeout applies', async () => {
    const answer = await target.guest.get('/api/v1/product?skipTotal=1');
    return answer.status === 422 && textAt(answer.json, 'code') === 'too_expensive';
  });
  const { id: other } = await admin.create('numbers', { v: -1 });
  return { admin, other };
}

const at = (address: string) => ({ headers: { 'X-Forwarded-For': address } });

type Probe = readonly [method: string, path: string, more: object];

/** Another client's requests that read no list. */
const probesWithoutLists = (other: string): readonly Probe[] => [
  ['GET', `/api/v1/numbers/${other}`, {}],
  ['POST', '/api/v1/numbers', { body: { v: -2 } }],
  ['POST', `/api/v1/auth/${userCollection}/login`, { body: credentials }],
  ['GET', '/readyz', {}],
];

async function probe(target: Target, probes: readonly Probe[]): Promise<void> {
  for (const [method, path, more] of probes) {
    const { status, text } = await target.guest.send(method, path, { ...at('10.9.9.9'), ...more });
    assert.ok(status === 200 || status === 201, `${method} ${path}: ${status} ${text}`);
  }
}

/** Sends another client's requests until the work ends; each has to succeed. Returns how many rounds it made. */
async function countProbeRounds(target: Target, other: string, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void work.then(end, end);
  const probes: readonly Probe[] = [
    ...probesWithoutLists(other),
    ['GET', '/api/v1/numbers?perPage=10', {}],
    ['GET', `/api/v1/numbers?filter=${encodeURIComponent('v < 0')}&sort=v`, {}],
  ];
  let rounds = 0;
  for (; !isOver; rounds += 1) await probe(target, probes);
  return rounds;
}

/** Returns how many reads of the view run in the database at once at most until the work ends. */
async function peakConcurrency(databaseUrl: string, work: Promise<unknown>): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void work.then(end, end);
  let most = 0;
  while (!isOver) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%"product"%'
         and backend_type = 'client backend'`,
    );
    most = Math.max(most, rows[0]?.count ?? 0);
  }
  await client.end();
  return most;
}

const codesOf = (answers: readonly Answer[]): string[] =>
  answers.map(({ status, json }) => (status < 300 ? String(status) : `${status} ${textAt(json, 'code')}`));

onEachTopology("guests' expensive reads do not stop other clients [cost §1.5]", async (t, target) => {
  const { admin, other } = await prepare(target);
  await t.test('while 20 of the most expensive reads run [cost §1.2, §1.4]', async () => {
    const expensive = Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        target.guest.send('GET', `/api/v1/product?skipTotal=1&perPage=${n + 1}`, at('10.0.0.1')),
      ),
    );
    const [answers, rounds, most] = await Promise.all([
      expensive,
      countProbeRounds(target, other, expensive),
      target.databaseUrl === undefined ? 0 : peakConcurrency(target.databaseUrl, expensive),
    ]);
    const codes = codesOf(answers);
    assert.ok(rounds >= 1);
    assert.ok(most <= 4 * replicaCount, `${most} at once`);
    assert.ok(codes.includes('422 too_expensive') && codes.includes('429 rate_limited'), String(codes));
    assert.deepEqual(
      codes.filter((code) => !['422 too_expensive', '429 rate_limited', '503 unavailable'].includes(code)),
      [],
    );
    for (const { status, headers } of answers) if (status === 429) assert.ok(headers['retry-after'] !== undefined);
  });

  await t.test('nor afterwards: 30 parallel lists succeed', async () => {
    const filter = encodeURIComponent('v < 0');
    const lists = Array.from({ length: 30 }, (_, n) =>
      target.guest.send('GET', `/api/v1/numbers?filter=${filter}&perPage=${n + 1}`, at('10.0.0.2')),
    );
    assert.deepEqual(new Set(codesOf(await Promise.all(lists))), new Set(['200']));
  });

  await t.test('while expansions over six relations to a large record run', () => deepExpands(target, admin, other));
  await t.test('while 40 guests send 190 comparisons each', () => longFilters(target, admin, other));
});

/** Reads 100 records that each lead over six relations to one 1 MB record: the whole answer would have 100 MB. */
async function deepExpands(target: Target, admin: Client, other: string): Promise<void> {
  const limitReads = (ms: number) => admin.patch('/api/v1/admin/settings', { 'records.read_timeout_ms': String(ms) });
  // Longer than another client's requests take on a busy machine.
  await limitReads(30_000);
  await admin.post('/api/v1/collections', {
    name: 'chains',
    type: 'base',
    fields: [
      { name: 'body', type: 'text' },
      { name: 'next', type: 'relation', collection: 'chains' },
    ],
    ...open,
  });
  const { id: large } = await admin.create('chains', { body: 'x'.repeat(1_040_000) });
  let next = large;
  for (let left = 5; left > 0; left -= 1) ({ id: next } = await admin.create('chains', { next }));
  for (let left = 100; left > 0; left -= 1) await admin.create('chains', { next });
  const expand = Array.from({ length: 6 }, () => 'next').join('.');
  const list = (perPage: number, address: string) =>
    target.guest.send('GET', `/api/v1/chains?expand=${expand}&perPage=${perPage}&sort=-created`, at(address));
  const [small] = codesOf([await list(1, '10.2.1.1')]);
  assert.equal(small, '200');
  await probeDuringHeldLists(target, other, () =>
    Array.from({ length: 20 }, (_, n) => {
      const address = `10.2.0.${n + 1}`;
      const plain = (perPage: number) =>
        target.guest.send('GET', `/api/v1/chains?perPage=${perPage}&skipTotal=1`, at(address));
      return [list(100, address), plain(10), plain(20)];
    }).flat(),
  );
  await limitReads(4000);
  const expensive = Promise.all([
    ...Array.from({ length: 20 }, (_, n) => list(100, `10.2.0.${n + 1}`)),
    ...Array.from({ length: 20 }, () => list(100, '10.2.1.1')),
  ]);
  const [answers] = await Promise.all([expensive, countProbeRounds(target, other, expensive)]);
  const codes = codesOf(answers);
  const refusals = ['422 answer_too_large', '422 too_expensive', '429 rate_limited', '503 unavailable'];
  assert.deepEqual(
    codes.filter((code) => !refusals.includes(code)),
    [],
  );
  assert.ok(codes.includes('422 answer_too_large') || codes.includes('422 too_expensive'), String(codes));
  await limitReads(1000);
}

/**
 * Holds all lists on `chains` in the database with a lock, as if they took long. Another client has to get its answers
 * meanwhile. If its requests waited for the lists, the lists that run would reach their time limit before that. Lists
 * that wait for a connection are refused earlier.
 */
async function probeDuringHeldLists(target: Target, other: string, send: () => Promise<Answer>[]): Promise<void> {
  if (target.databaseUrl === undefined) return;
  const client = new pg.Client({ connectionString: target.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('lock table records.chains in access exclusive mode');
    const ended: Answer[] = [];
    const lists = send().map(async (list) => ended.push(await list));
    await eventually('lists wait for the lock', async () => {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from pg_locks where not granted',
      );
      return (rows[0]?.count ?? 0) >= 2;
    });
    const startedAtMs = performance.now();
    await probe(target, probesWithoutLists(other));
    const tookMs = Math.round(performance.now() - startedAtMs);
    assert.deepEqual(
      codesOf(ended).filter((code) => !['429 rate_limited', '503 unavailable'].includes(code)),
      [],
      `lists ended before another client had its answers, after ${tookMs} ms`,
    );
    await client.query('rollback');
    await Promise.all(lists);
  } finally {
    await client.end();
  }
}

async function longFilters(target: Target, admin: Client, other: string): Promise<void> {
  await admin.post('/api/v1/collections', {
    name: 'essays',
    type: 'base',
    fields: [{ name: 'a', type: 'text' }],
    ...open,
  });
  const essay = 'Lorem ipsum dolor sit amet. '.repeat(1000);
  for (let left = 200; left > 0; left -= 1) await admin.create('essays', { a: essay });
  const filter = encodeURIComponent(Array.from({ length: 190 }, (_, n) => `a !~ "${n}x"`).join('&&'));
  const expensive = Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      target.guest.send('GET', `/api/v1/essays?filter=${filter}`, at(`10.1.0.${n + 1}`)),
    ),
  );
  const [answers] = await Promise.all([expensive, countProbeRounds(target, other, expensive)]);
  for (const code of codesOf(answers))
    assert.ok(['200', '422 too_expensive', '429 rate_limited', '503 unavailable'].includes(code), code);
}
