import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { type ServiceProcess, startServiceProcess } from '../harness/stacks/service-process.ts';
import { createGround, type Ground, type Stack, startStack } from '../harness/stacks/stack.ts';
import { linesOf, sendImport } from '../scenarios/import-jobs.ts';

const rows = 20_000;

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

interface Replicas {
  readonly ground: Ground;
  readonly stack: Stack;
  readonly other: ServiceProcess;
  readonly admin: Client;
}

/**
 * Imports rows on two records replicas, and disturbs the one that works on them. Checks that the other one continues,
 * and that each row is stored once, with one event.
 */
async function importWhile(
  t: TestContext,
  { ground, stack, other, admin }: Replicas,
  collection: string,
  disturb: (pid: number) => (() => void) | undefined,
): Promise<void> {
  await admin.post('/api/v1/collections', {
    name: collection,
    type: 'base',
    fields: [{ name: 'n', type: 'number' }],
  });
  const body = linesOf(Array.from({ length: rows }, (_, n) => ({ n })));
  const begun = (): number => other.process.lines.filter((line) => line.includes('work on a job begins')).length;
  const before = begun();
  const id = textAt((await sendImport(admin, collection, { format: 'ndjson' }, body)).json, 'data.id');
  await eventually('rows are done', async () => Number((await jobIn(ground, id)).done) > 0);
  const end = disturb(begun() > before ? other.process.pid : (stack.services.records?.pid ?? 0));
  try {
    const begunAtMs = performance.now();
    await eventually('a replica takes the job', async () => Number((await jobIn(ground, id)).fence) > 1, {
      timeoutMs: takeOverMs,
    });
    t.diagnostic(`taken over after ${Math.round(performance.now() - begunAtMs)} ms`);
    const done = Number((await jobIn(ground, id)).done);
    await eventually('the job continues', async () => Number((await jobIn(ground, id)).done) > done, {
      timeoutMs: takeOverMs,
    });
  } finally {
    end?.();
  }
  await eventually('the job is done', async () => (await jobIn(ground, id)).state === 'done', {
    timeoutMs: takeOverMs,
  });
  const event = `${collection}.create`;
  const [counts] = await inDatabase(
    ground,
    `select (select count(*) from records.${collection})::integer as records,
      (select count(distinct n) from records.${collection})::integer as numbers,
      (select count(distinct record_key) from system.outbox where event = $1)::integer as named,
      (select count(*) from system.outbox where event = $1)::integer as events,
      (select rows_done::integer from system.jobs where id = $2) as done`,
    [event, id],
  );
  assert.deepEqual(counts, { records: rows, numbers: rows, named: rows, events: rows, done: rows });
}

test('on two replicas, nothing of an import is lost or done twice [import §7.4]', async (t) => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'processes', ground });
  // The same store, as a shared directory or bucket.
  await using other = await startServiceProcess('records', ground);
  const replicas = { ground, stack, other, admin: await stack.admin() };

  await t.test(
    'when the replica that works on it is frozen, the other one continues, and the first commits nothing more',
    (part) =>
      importWhile(part, replicas, 'frozen', (pid) => {
        process.kill(pid, 'SIGSTOP');
        return () => process.kill(pid, 'SIGCONT');
      }),
  );

  await t.test('when it is killed, the other one continues', (part) =>
    importWhile(part, replicas, 'killed', (pid) => {
      process.kill(pid, 'SIGKILL');
      return undefined;
    }),
  );
});
