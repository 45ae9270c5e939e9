import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { inDatabase } from '../harness/in-database.ts';
import { textAt } from '../harness/json.ts';
import { startServiceProcess } from '../harness/service-process.ts';
import { createGround, type Ground, startStack } from '../harness/stack.ts';
import { linesOf, sendImport } from '../scenarios/import-jobs.ts';

const rows = 40_000;

/** A frozen replica keeps its transaction's locks until the server ends it. */
const takeOverMs = 120_000;

const jobIn = async (ground: Ground, id: string) => {
  const [job] = await inDatabase(
    ground,
    'select state, fence::integer, rows_done::integer as done from system.jobs where id = $1',
    [id],
  );
  return job ?? {};
};

/**
 * Imports rows on two records replicas, and disturbs the one that works on them. Checks that the other one continues,
 * and that each row is stored once, with one event.
 */
async function importWhile(t: TestContext, disturb: (pid: number) => (() => void) | undefined): Promise<void> {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'processes', ground });
  // The same store, as a shared directory or bucket.
  await using other = await startServiceProcess('records', ground);
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'rows', type: 'base', fields: [{ name: 'n', type: 'number' }] });
  const body = linesOf(Array.from({ length: rows }, (_, n) => ({ n })));
  const id = textAt((await sendImport(admin, 'rows', { format: 'ndjson' }, body)).json, 'data.id');
  await eventually('rows are done', async () => Number((await jobIn(ground, id)).done) > 0);
  const isOther = other.process.lines.some((line) => line.includes('work on a job begins'));
  const worker = isOther ? other.process.pid : (stack.services.records?.pid ?? 0);
  const end = disturb(worker);
  try {
    const begunAtMs = performance.now();
    await eventually('a replica takes the job', async () => Number((await jobIn(ground, id)).fence) > 1, {
      timeoutMs: takeOverMs,
    });
    t.diagnostic(`taken over after ${Math.round(performance.now() - begunAtMs)} ms`);
    const before = Number((await jobIn(ground, id)).done);
    await eventually('the job continues', async () => Number((await jobIn(ground, id)).done) > before, {
      timeoutMs: takeOverMs,
    });
  } finally {
    end?.();
  }
  await eventually('the job is done', async () => (await jobIn(ground, id)).state === 'done', {
    timeoutMs: takeOverMs,
  });
  const [counts] = await inDatabase(
    ground,
    `select (select count(*) from records.rows)::integer as records,
      (select count(distinct n) from records.rows)::integer as numbers,
      (select count(distinct record_key) from system.outbox where event = 'rows.create')::integer as named,
      (select count(*) from system.outbox where event = 'rows.create')::integer as events,
      (select rows_done from system.jobs)::integer as done`,
    [],
  );
  assert.deepEqual(counts, { records: rows, numbers: rows, named: rows, events: rows, done: rows });
}

test('when the replica that works on a job is killed, another one continues, and nothing is done twice [import §7.4]', (t) =>
  importWhile(t, (pid) => {
    process.kill(pid, 'SIGKILL');
    return undefined;
  }));

test('when the replica that works on a job is frozen, another one continues, and the first commits nothing more [import §7.4]', (t) =>
  importWhile(t, (pid) => {
    process.kill(pid, 'SIGSTOP');
    return () => process.kill(pid, 'SIGCONT');
  }));
