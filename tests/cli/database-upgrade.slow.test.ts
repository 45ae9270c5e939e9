import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { type Child, endChild } from '../harness/processes/child.ts';
import { runCli, startCli } from '../harness/processes/cli.ts';
import { olderPostgres } from '../harness/servers/older-postgres.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { callers, createDataDirectory, readiness, startProduct } from '../harness/stacks/stack.ts';
import { checkDeployment, fillDeployment } from '../upgrade/small-deployment.ts';

const older = await olderPostgres('17.10.0-beta.17').catch((error: Error) => error);
const skip = older instanceof Error && `npm cannot install PostgreSQL 17: ${older.message}`;
const patience = { timeoutMs: 120_000, intervalMs: 2 };

test("the data directory's database moves to another PostgreSQL [operation §8.10]", { skip }, async (t) => {
  if (older instanceof Error) return;
  const tidying = new AsyncDisposableStack();
  t.after(() => tidying.disposeAsync());
  const dataDirectory = createDataDirectory();
  tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const receiver = tidying.use(await startReceiver());
  const environment = { SERVICE_DATA_DIR: dataDirectory };
  const upgrade = ['database', 'upgrade', '--json'];
  const path = (...names: readonly string[]): string => join(dataDirectory, 'postgres', ...names);
  const majorOf = (cluster: string): string => readFileSync(path(cluster, 'PG_VERSION'), 'utf8').trim();

  /** Starts the stack, with an older PostgreSQL by its variables. */
  async function start(variables: Readonly<Record<string, string>> = {}) {
    const product: Child = startProduct('one', { ...environment, ...variables });
    tidying.defer(async () => void (await endChild(product)));
    return { product, ...(await readiness(product)) };
  }

  const first = await start(older);
  const marks = await fillDeployment(first.url, first.setupToken, '17');
  const analyst = await runCli(['analyst', 'create', 'ada', '--json'], { environment });
  assert.equal(analyst.code, 0, analyst.stderr);

  await t.test('a running stack is refused', async () => {
    const { code, stderr } = await runCli(upgrade, { environment });
    assert.equal(code, 78);
    assert.match(stderr, /Another stack \(process \d+\) is running on the data directory .*: stop it first/);
  });
  await endChild(first.product);

  await t.test('a start without the upgrade names it, and changes nothing', async () => {
    const product = startProduct('one', environment);
    assert.equal((await product.exited).code, 78);
    assert.match(
      product.lines.join('\n'),
      /PostgreSQL 17 made the database in .*run npm run cli -- database upgrade\./,
    );
    assert.equal(majorOf('cluster'), '17');
  });

  await t.test('a kill at any moment leaves the old database, which still works', async () => {
    const archive = path('upgrade', 'database.tar.gz');
    let hasCopied = false;
    const moments: readonly (() => boolean)[] = [
      () => existsSync(path('upgrade')),
      () => existsSync(path('upgrade', 'cluster')),
      () => existsSync(archive),
      () => {
        hasCopied ||= existsSync(archive);
        return hasCopied && !existsSync(archive);
      },
    ];
    for (const [index, isNow] of moments.entries()) {
      const command = startCli(upgrade, { environment });
      await eventually(`moment ${index}`, isNow, patience);
      await endChild(command, 'SIGKILL');
      assert.equal(majorOf('cluster'), '17', `killed at moment ${index}`);
    }
    const { product, url } = await start(older);
    await createClient(url, marks.key).create('papers', { title: 'between' });
    await endChild(product);
  });

  await t.test('everything moves, and the old database is kept', async () => {
    const upgraded = await runCli(upgrade, { environment });
    assert.equal(upgraded.code, 0, upgraded.stdout + upgraded.stderr);
    const { json } = upgraded;
    assert.deepEqual([at(json, 'from'), at(json, 'to'), at(json, 'kept')], ['17', '18', path('cluster-17')]);
    assert.deepEqual([majorOf('cluster-17'), majorOf('cluster')], ['17', '18']);
    assert.ok(!existsSync(path('upgrade')));

    const { product, url } = await start();
    await checkDeployment(url, marks, receiver);
    const admin = await callers(url, undefined).admin();
    const audit = await admin.get('/api/v1/admin/audit?action=database.upgrade');
    assert.equal(textAt(audit.json, 'data.0.details.from'), '17');
    const doctor = await runCli(['doctor', '--json'], { environment });
    assert.equal(doctor.code, 0, doctor.stdout);
    assert.deepEqual(await titlesFor(analyst.json), ['between', 'two']);
    await endChild(product);
  });

  await t.test('a start finishes an upgrade that was killed between its two renames', async () => {
    mkdirSync(path('upgrade'));
    renameSync(path('cluster'), path('upgrade', 'cluster'));
    const { product, url } = await start();
    const papers = await createClient(url, marks.key).get('/api/v1/papers');
    assert.equal(listAt(papers.json, 'data').length, 2);
    await endChild(product);
  });

  await t.test('there is nothing more to upgrade', async () => {
    const again = await runCli(upgrade, { environment });
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(again.json, { upgraded: false });
    assert.ok(!existsSync(path('upgrade')));
  });

  /** Reads a view as the analyst. The server's port changed since its URL was printed, but not its socket. */
  async function titlesFor(made: unknown): Promise<readonly string[]> {
    const note: unknown = JSON.parse(readFileSync(join(dataDirectory, 'stack.json'), 'utf8'));
    const url = new URL(textAt(made, 'url'));
    url.port = new URL(textAt(note, 'databaseUrl')).port;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      const { rows } = await client.query<{ title: string }>('select title from analyst.papers order by title');
      return rows.map(({ title }) => title);
    } finally {
      await client.end();
    }
  }
});
