import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { fixedSettings } from '@recordbus/settings/testing';
import { eventually } from '@recordbus/testing';
import { createRequestLog } from '../src/app.ts';
import type { LoggedRequest } from '../src/request-log/request-row.ts';
import { quiet } from './topologies.ts';

const daySec = 24 * 3600;

describe('the request log', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let isAway = false;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(async () => {
    await temporary.remove();
  });

  /** The database, which a test can make unavailable. */
  const query: Database['query'] = (statement) =>
    isAway ? Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })) : database.query(statement);

  const start = (settings = fixedSettings()) => {
    const requests = createRequestLog({ database: { query }, settings, log: quiet });
    requests.start();
    return { ...requests, [Symbol.asyncDispose]: requests.stop };
  };

  const requestOf = (path: string, atSec = Math.floor(Date.now() / 1000)): LoggedRequest => ({
    at: atSec,
    method: 'GET',
    path,
    status: 200,
    duration_ms: 1.5,
    ip: '127.0.0.1',
    user_agent: null,
    principal_type: 'guest',
    principal_id: null,
    auth_impersonated_by: null,
    request_id: 'r',
    trace_id: null,
  });

  const count = async (requests: ReturnType<typeof start>, path: string): Promise<number> =>
    (await requests.list({ path, page: 1, perPage: 1 })).totalItems;

  test('takes thousands of requests at once, loses none, and keeps their order', async () => {
    await using requests = start();
    for (let number = 0; number < 2500; number += 1) requests.note(requestOf(`/burst/${number}`, 1_800_000_000));
    await eventually(async () => (await count(requests, '/burst/')) === 2500);
    const { rows } = await requests.list({ path: '/burst/', page: 1, perPage: 3 });
    assert.deepEqual(
      rows.map(({ path }) => path),
      ['/burst/2499', '/burst/2498', '/burst/2497'],
    );
    assert.deepEqual([requests.lost(), requests.waiting()], [0, 0]);
  });

  test('writes waiting requests when it stops', async () => {
    await using requests = start();
    requests.note(requestOf('/last'));
    await requests.stop();
    assert.equal(await count(requests, '/last'), 1);
  });

  test('keeps 10,000 requests while the database is down, counts the lost ones, and continues afterwards', async () => {
    await using requests = start();
    isAway = true;
    try {
      for (let number = 0; number < 10_250; number += 1) requests.note(requestOf('/away'));
      assert.deepEqual([requests.waiting(), requests.lost()], [10_000, 250]);
    } finally {
      isAway = false;
    }
    await eventually(async () => (await count(requests, '/away')) === 10_000);
    assert.equal(requests.waiting(), 0);
  });

  test('gives up requests that the database refuses', async () => {
    await using requests = start();
    requests.note(requestOf('/refused\0'));
    await eventually(() => requests.lost() === 1);
    requests.note(requestOf('/fine'));
    await eventually(async () => (await count(requests, '/fine')) === 1);
  });

  test('drops days after their retention, as tables', async () => {
    const settings = fixedSettings({ 'logs.retention_days': '30' });
    await using requests = start(settings);
    const nowSec = Math.floor(Date.now() / 1000);
    for (const days of [20, 5, 0]) requests.note(requestOf(`/days/${days}`, nowSec - days * daySec));
    await eventually(async () => (await count(requests, '/days/')) === 3);
    settings.change('logs.retention_days', '7');
    await eventually(async () => (await count(requests, '/days/')) === 2);
    const dropped = new Date((nowSec - 20 * daySec) * 1000).toISOString().slice(0, 10).replaceAll('-', '');
    const [{ table } = { table: '' }] = await database.query<{ table: string | null }>({
      text: 'select to_regclass($1)::text as table',
      values: [`system.requests_${dropped}`],
    });
    assert.equal(table, null);
  });

  test("a client's refusals in a second are one row, whose count a summary adds up", async () => {
    await using requests = start();
    for (let number = 0; number < 300; number += 1)
      requests.noteRefusal('a', () => ({ ...requestOf(`/refused/${number}`), status: 429 }));
    await requests.stop();
    const { rows } = await requests.list({ path: '/refused/', page: 1, perPage: 30 });
    // The second may have changed meanwhile.
    assert.ok(rows.length <= 2, `${rows.length} rows`);
    assert.equal(
      rows.reduce((sum, { count: refusals }) => sum + refusals, 0),
      300,
    );
    assert.equal(rows.at(-1)?.path, '/refused/0');
    const [{ at = 0 } = {}] = rows;
    const { buckets } = await requests.summarize({ since: at - 5, until: at, stepSec: 10 });
    assert.ok(buckets.reduce((sum, { refused }) => sum + refused, 0) >= 300);
  });

  const bytesOf = async (): Promise<number> => {
    const [row] = await database.query<{ bytes: number }>({
      text: 'select coalesce(sum(bytes), 0)::float8 as bytes from system.request_partitions()',
      values: [],
    });
    return row?.bytes ?? 0;
  };

  /** Returns the next second's partition size, and when it begins. */
  const nextPartition = async (): Promise<{ bytes: number; first_at: number }> => {
    const nextSec = Math.floor(Date.now() / 1000) + 1;
    const [row] = await database.query<{ bytes: number; first_at: number }>({
      text: `select bytes::float8 as bytes, first_at::float8 as first_at from system.request_partitions()
        where $1 >= first_at and $1 < end_at`,
      values: [nextSec],
    });
    return row ?? { bytes: 0, first_at: nextSec };
  };

  test("has at most its bytes: the oldest rows go first, even today's", async () => {
    const maxBytes = 4 * 2 ** 20;
    await using requests = start(fixedSettings({ 'logs.requests_max_bytes': String(maxBytes) }));
    /** A partition begins with a second, so rows written within one second go together. */
    const newPartition = () =>
      eventually(async () => {
        const { bytes, first_at } = await nextPartition();
        return bytes <= maxBytes / 8 && Date.now() / 1000 >= first_at;
      });
    const nowSec = Math.floor(Date.now() / 1000);
    const long = 'x'.repeat(400);
    const rounds = 9;
    let largest = 0;
    await newPartition();
    for (let round = 0; round < rounds; round += 1) {
      for (let number = 0; number < 1000; number += 1)
        requests.note({ ...requestOf(`/full/${round}`), user_agent: long + number });
      await eventually(() => requests.waiting() === 0);
      await newPartition();
      largest = Math.max(largest, await bytesOf());
    }
    assert.ok(largest <= maxBytes, `${largest} bytes`);
    const kept = await count(requests, '/full/');
    assert.ok(kept > 1000 && kept < rounds * 1000, `${kept} rows of ${rounds * 1000}`);
    assert.equal(await count(requests, '/full/0'), 0);
    assert.equal(await count(requests, `/full/${rounds - 1}`), 1000);

    // A request that lasted hours, and one from a day that was dropped.
    requests.note(requestOf('/late', nowSec - (nowSec % daySec)));
    requests.note(requestOf('/late', nowSec - 5 * daySec));
    await eventually(async () => (await count(requests, '/late')) === 2);
    assert.equal(requests.lost(), 0);
  });

  test('is emptied when it is larger than a new limit', async () => {
    const settings = fixedSettings();
    await using requests = start(settings);
    const long = 'x'.repeat(400);
    for (let number = 0; number < 4000; number += 1)
      requests.note({ ...requestOf('/lowered'), user_agent: long + number });
    await eventually(async () => (await count(requests, '/lowered')) === 4000);
    settings.change('logs.requests_max_bytes', String(2 ** 20));
    await eventually(async () => (await bytesOf()) <= 2 ** 20);
    requests.note(requestOf('/after'));
    await eventually(async () => (await count(requests, '/after')) === 1);
  });
});
