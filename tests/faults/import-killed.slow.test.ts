import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, numberAt, textAt } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { listDescendants } from '../harness/processes/processes.ts';
import { callers, createDataDirectory, firstAdmin, readiness, startProduct } from '../harness/stacks/stack.ts';
import { ended, linesOf, readJob, sendImport } from '../scenarios/import-jobs.ts';

// CI has time for this many. IMPORT_ROWS=50000 IMPORT_KILLS=10 takes three minutes.
const rows = Number(process.env.IMPORT_ROWS ?? 20_000);
const kills = Number(process.env.IMPORT_KILLS ?? 4);

test(`an import of ${rows} rows survives when the whole stack is killed ${kills} times: each row is stored once, with one event [import §5.1]`, async (t) => {
  await using tidying = new AsyncDisposableStack();
  const dataDirectory = createDataDirectory();
  tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const port = String(await findFreePort());
  const start = () => startProduct('one', { SERVICE_DATA_DIR: dataDirectory, SERVICE_PORT: port });
  let product = start();
  tidying.defer(async () => {
    await endChild(product);
  });
  const { url, setupToken } = await readiness(product);
  await (await callers(url, setupToken).admin()).post('/api/v1/collections', {
    name: 'rows',
    type: 'base',
    fields: [{ name: 'n', type: 'number', options: { unique: true } }],
    history_enabled: true,
  });
  const signIn = async (): Promise<Client> => {
    const answer = await createClient(url).post('/api/v1/admin/login', firstAdmin, 200);
    return createClient(url, textAt(answer, 'token'));
  };
  let admin = await signIn();
  const body = linesOf(Array.from({ length: rows }, (_, n) => ({ n })));
  const id = textAt((await sendImport(admin, 'rows', { format: 'ndjson' }, body)).json, 'data.id');
  const doneRows = async () => numberAt(await readJob(admin, id), 'rows.done');

  for (let round = 1; round <= kills; round += 1) {
    const before = await doneRows();
    await eventually('the job continues', async () => (await doneRows()) > before, { timeoutMs: 120_000 });
    await delay(Math.random() * 300);
    for (const pid of [product.pid, ...listDescendants(product.pid).map((one) => one.pid)]) kill(pid);
    product = start();
    await readiness(product);
    admin = await signIn();
    const done = await doneRows();
    assert.ok(done >= before, `round ${round}: ${done} of ${before}`);
    // The job continues meanwhile, so the counts match only if no row is done between them.
    await eventually(`round ${round}: every row that is done is stored`, async () => {
      const counted = await doneRows();
      const stored = numberAt((await admin.get('/api/v1/rows?perPage=1')).json, 'totalItems');
      return stored === counted;
    });
    t.diagnostic(`kill ${round}: ${done} rows are done`);
    if (done === rows) break;
  }

  const job = await ended(admin, id, 300_000);
  assert.deepEqual(
    [job.state, job.rows],
    ['done', { total: rows, read: rows, done: rows, skipped: 0, refused: 0, waiting: 0 }],
  );
  const sum = await admin.get('/api/v1/rows/aggregate?sum=n');
  assert.equal(at(sum.json, 'data.0.sum_n'), (rows * (rows - 1)) / 2);
  assert.equal(at((await admin.get('/api/v1/rows?perPage=1')).json, 'totalItems'), rows);
  const { natsUrl } = JSON.parse(readFileSync(join(dataDirectory, 'stack.json'), 'utf8'));
  await using bus = await openBusReader(natsUrl);
  const created = () => bus.events.filter(({ subject }) => subject === 'events.rows.create');
  await eventually('every event is published', () => created().length >= rows, { timeoutMs: 300_000 });
  const ids = new Set(created().map(({ body: event }) => textAt(event, 'id')));
  const numbers = new Set(created().map(({ body: event }) => at(event, 'data.record.n')));
  assert.deepEqual([ids.size, numbers.size], [rows, rows]);
});

/** A process may already have ended with its parent. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
