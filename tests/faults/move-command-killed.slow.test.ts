import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '../harness/clients/client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { createPocketBaseData, type PocketBaseData } from '../harness/pocketbase/data.ts';
import { createMoveFolder } from '../harness/pocketbase/move.ts';
import { endChild } from '../harness/processes/child.ts';
import { runCli, startCli } from '../harness/processes/cli.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { listDescendants } from '../harness/processes/processes.ts';
import { createDataDirectory, firstAdmin, readiness, startProduct } from '../harness/stacks/stack.ts';

// MOVE_ROWS=20000 MOVE_KILLS=10 takes minutes.
const rows = Number(process.env.MOVE_ROWS ?? 4000);
const kills = Number(process.env.MOVE_KILLS ?? 4);

const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };
const idOf = (kind: string, n: number) => `${kind}${n}`.padEnd(15, 'x');
/** Every fiftieth record has a file. */
const fileOf = (n: number) => (n % 50 === 0 ? `a_${String(n).padStart(10, '0')}.txt` : '');

/** Records that refer to accounts and, in a circle, to each other. */
function fill(data: PocketBaseData): void {
  const one = (name: string, collectionId: string) => ({ name, type: 'relation', collectionId, maxSelect: 1 });
  data.define({ id: 'pbc_people', name: 'people', type: 'auth', fields: [one('best', 'pbc_rows')] });
  data.define({
    id: 'pbc_rows',
    name: 'rows',
    fields: [{ name: 'n', type: 'number' }, { name: 'file', type: 'file', maxSelect: 1 }, one('author', 'pbc_people')],
  });
  add(data, 0, rows);
}

function add(data: PocketBaseData, from: number, to: number): void {
  data.database.exec('begin');
  for (let n = from; n < to; n += 1) {
    if (n % 10 === 0) {
      const email = `p${n}@example.com`;
      data.insert('people', { id: idOf('p', n), email, tokenKey: 'k'.repeat(50), best: idOf('r', n), ...times });
    }
    data.insert('rows', { id: idOf('r', n), n, file: fileOf(n), author: idOf('p', n - (n % 10)), ...times });
    if (fileOf(n) !== '') data.store('pbc_rows', idOf('r', n), fileOf(n), `bytes of ${n}`);
  }
  data.database.exec('commit');
}

/** What changes in PocketBase between two runs: new, changed and deleted records. */
function change(data: PocketBaseData, round: number): void {
  const from = rows + (round * rows) / 4;
  add(data, from, from + rows / 4);
  data.database.exec(`update rows set n = n + ${round + 1}, updated = '2025-02-01 10:00:00.000Z' where rowid % 3 = ${round % 3};
    update people set email = 'q' || ${round} || '_' || email where rowid % 20 = ${round};
    delete from rows where rowid % 997 = ${round}`);
}

/** A stack with its own servers, which a test kills together. */
async function startWhole(tidying: AsyncDisposableStack) {
  const dataDirectory = createDataDirectory();
  tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const environment = { SERVICE_DATA_DIR: dataDirectory };
  const port = String(await findFreePort());
  const start = () => startProduct('one', { ...environment, SERVICE_PORT: port });
  let product = start();
  tidying.defer(async () => {
    await endChild(product);
  });
  const { url, setupToken } = await readiness(product);
  await createClient(url).post('/api/v1/admin/setup', { token: setupToken, ...firstAdmin });
  return {
    environment,
    async admin(): Promise<Client> {
      const answer = await createClient(url).post('/api/v1/admin/login', firstAdmin, 200);
      return createClient(url, textAt(answer, 'token'));
    },
    async kill(): Promise<void> {
      for (const pid of [product.pid, ...listDescendants(product.pid).map((one) => one.pid)]) killOutright(pid);
      await product.exited;
      product = start();
      await readiness(product);
    },
    stop: () => endChild(product),
  };
}

function killOutright(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Everything that moved, without the times that a run sets. */
async function contentsOf(admin: Client) {
  const records: Record<string, unknown>[] = [];
  for (const collection of ['people', 'rows']) {
    const { text } = await admin.get(`/api/v1/records/${collection}/export?format=ndjson&sort=id`);
    for (const line of text.split('\n').filter((one) => one !== ''))
      records.push({ ...(JSON.parse(line) as object), collection, updated: 0 });
  }
  const bytes = createHash('sha256');
  for (const { id, file } of records)
    if (typeof file === 'string') bytes.update((await admin.get(`/api/v1/files/rows/${String(id)}/${file}`)).text);
  return { records, bytes: bytes.digest('hex') };
}

const name = `a move that is killed ${kills} times, its stack too, ends like one that nothing disturbs [move §3.1]`;

test(name, async (t) => {
  await using tidying = new AsyncDisposableStack();
  const directory = join(createMoveFolder(tidying), 'pb_data');
  const data = createPocketBaseData(directory);
  tidying.defer(async () => data.close());
  fill(data);
  const stack = await startWhole(tidying);
  const args = (state: string) => ['import', 'pocketbase', directory, '--json', '--state', `${directory}.${state}`];
  // Runs become longer or shorter with the machine, so each kill comes within a part of the last run's time.
  let runMs = 3000;
  let changes = 0;
  for (let kill = 1; kill <= kills; ) {
    const startedMs = performance.now();
    const command = startCli(args('killed'), { environment: stack.environment });
    const waitMs = 500 + Math.random() * runMs;
    const isOver = await Promise.race([command.exited.then(() => true), delay(waitMs, false)]);
    if (isOver) {
      const { code } = await command.exited;
      assert.equal(code, 0, command.lines.join('\n'));
      runMs = performance.now() - startedMs;
      change(data, changes++);
      continue;
    }
    command.kill('SIGKILL');
    await command.exited;
    t.diagnostic(`kill ${kill} after ${Math.round(waitMs)} ms`);
    if (kill % 3 === 0) await stack.kill();
    // PocketBase continues while its data moves.
    if (kill % 4 === 0) change(data, changes++);
    kill += 1;
  }
  const last = await runCli(args('killed'), { environment: stack.environment });
  assert.equal(last.code, 0, last.stderr);
  for (const one of listAt(last.json, 'collections'))
    assert.deepEqual([at(one, 'refused'), at(one, 'kept_here')], [0, []], JSON.stringify(one));
  const again = await runCli(args('killed'), { environment: stack.environment });
  for (const one of listAt(again.json, 'collections'))
    assert.deepEqual(
      ['created', 'changed', 'deleted', 'files'].map((count) => at(one, count)),
      [0, 0, 0, 0],
    );
  const found = await contentsOf(await stack.admin());
  await stack.stop();

  const undisturbed = await startWhole(tidying);
  const { code, stderr } = await runCli(args('undisturbed'), { environment: undisturbed.environment });
  assert.equal(code, 0, stderr);
  const expected = await contentsOf(await undisturbed.admin());
  assert.ok(expected.records.length > rows, `${expected.records.length} records`);
  assert.equal(found.records.length, expected.records.length);
  for (const [index, record] of expected.records.entries()) assert.deepEqual(found.records[index], record);
  assert.equal(found.bytes, expected.bytes);
});
