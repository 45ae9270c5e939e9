import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { startCutProxy } from '../harness/network/cut-proxy.ts';
import { type CliResult, runCli, startCli } from '../harness/processes/cli.ts';
import { createGround, firstAdmin, startStack } from '../harness/stacks/stack.ts';
import { linesOf } from '../scenarios/import-jobs.ts';

suite('records on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-records-'));
  tidying.defer(async () => rmSync(directory, { recursive: true }));
  const ground = tidying.use(await createGround());
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const admin = await stack.admin();
  const signedIn = await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin });
  const environment = { SERVICE_KEY: textAt(signedIn.json, 'data.token'), SERVICE_DATA_DIR: join(directory, 'none') };
  const place = (name: string) => join(directory, name);
  const read = (name: string) => readFileSync(place(name), 'utf8');
  const records = (args: readonly string[], { url = stack.url, input = '', more = {} } = {}): Promise<CliResult> =>
    runCli(['records', ...args, '--url', url], { environment: { ...environment, ...more }, input });
  const define = (name: string) =>
    admin.post('/api/v1/collections', {
      name,
      type: 'base',
      list_rule: '',
      fields: [
        { name: 'title', type: 'text', options: { unique: true } },
        { name: 'n', type: 'number', options: { max: 1000 } },
      ],
    });
  const totalOf = async (name: string) => at((await admin.get(`/api/v1/${name}?perPage=1`)).json, 'totalItems');
  const jobsOf = async (name: string) => listAt((await admin.get(`/api/v1/jobs?collection=${name}`)).json, 'data');
  const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ title: `=row ${n}`, n }));

  await define('origin');
  for (const row of rows(5)) await admin.create('origin', row);

  test("an export is the route's answer, in the file's format [operation §8.7]", async () => {
    for (const [name, query] of [
      ['a.csv', 'format=csv&sort=n'],
      ['a.jsonl', 'format=ndjson&sort=n'],
      ['a.json', 'format=json&sort=n'],
      ['raw.csv', 'format=csv&sort=n&raw=1&fields=title&filter=n<3'],
    ] as const) {
      const more = name === 'raw.csv' ? ['--raw', '--fields', 'title', '--filter', 'n<3'] : [];
      const { code, stdout, stderr } = await records(['export', 'origin', place(name), '--sort', 'n', ...more]);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, `Exported ${more.length > 0 ? 3 : 5} records from origin to ${place(name)}.\n`);
      assert.equal(read(name), (await admin.get(`/api/v1/records/origin/export?${query}`)).text);
    }
    const { json } = await records(['export', 'origin', place('a.csv.gz'), '--sort', 'n', '--json']);
    assert.deepEqual(json, { collection: 'origin', file: place('a.csv.gz'), records: 5 });
    assert.equal(gunzipSync(readFileSync(place('a.csv.gz'))).toString(), read('a.csv'));
    const { stdout } = await records(['export', 'origin', '-', '--sort', 'n']);
    assert.equal(stdout, read('a.csv'));
  });

  test('a service key for a collection exports it, and a guest does not', async () => {
    const { key } = await admin.post('/api/v1/admin/keys', { name: 'reader', scopes: ['records:origin:read'] });
    assert.equal((await records(['export', 'origin', place('k.csv'), '--key', String(key)])).code, 0);
    const more = { SERVICE_KEY: '' };
    const { code, stderr } = await records(['export', 'origin', place('g.csv')], { more });
    assert.deepEqual([code, stderr], [1, 'only admins may do this\n']);
    assert.ok(!existsSync(place('g.csv')));
  });

  test('an import restores an export exactly', async () => {
    for (const name of ['a.csv', 'a.jsonl', 'a.json', 'a.csv.gz']) {
      const copy = `copy_${name.replaceAll('.', '_')}`;
      await define(copy);
      const { code, stdout, stderr } = await records(['import', copy, place(name), '--keep', 'id,created,updated']);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, `5 of 5 rows were imported into ${copy}.\n`);
      const again = await admin.get(`/api/v1/records/${copy}/export?sort=n`);
      assert.equal(again.text, read('a.csv'));
    }
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.endsWith('.import')),
      [],
    );
  });

  test('standard input is imported too, with every option', async () => {
    await define('piped');
    const options = ['--format', 'csv', '--separator', ';', '--null', 'NULL', '--map', '{"t":"title","x":null}'];
    const { code, json, stderr } = await records(
      ['import', 'piped', '-', ...options, '--events', 'none', '--dates', 'dmy', '--json'],
      {
        input: 't;n;x\none;NULL;1\ntwo;2;\n',
      },
    );
    assert.equal(code, 0, stderr);
    assert.equal(at(json, 'rows.done'), 2);
    assert.equal(at(json, 'options.events'), 'none');
    assert.equal(at(json, 'options.dates'), 'dmy');
    assert.equal(await totalOf('piped'), 2);
    const upsert = ['--format', 'csv', '--mode', 'upsert', '--on', 'title'];
    const counted = await records(['import', 'piped', '-', ...upsert, '--dry-run'], { input: 'title,n\ntwo,3\n' });
    assert.equal(counted.stdout, '1 of 1 rows were imported into piped.\n');
    assert.equal((await records(['import', 'piped', '-', ...upsert], { input: 'title,n\ntwo,3\n' })).code, 0);
    assert.equal(await totalOf('piped'), 2);
  });

  test('refused rows are written next to the file, and the exit code is 3', async () => {
    await define('partly');
    writeFileSync(place('partly.csv'), 'title,n\none,1\ntwo,2000\n');
    const { code, stdout } = await records(['import', 'partly', place('partly.csv')]);
    assert.equal(code, 3);
    const file = place('partly.refused.csv');
    assert.equal(stdout, `1 of 2 rows were imported into partly. 1 were refused: see ${file}.\n`);
    assert.match(read('partly.refused.csv'), /two,2000,n: must be at most 1000/);
  });

  test("the API's refusal is shown, and nothing is kept", async () => {
    writeFileSync(place('bad.csv'), 'title,nothing\none,1\n');
    writeFileSync(place('bad.csv.gz'), 'title\none\n');
    for (const [args, code, message] of [
      [['import', 'origin', place('bad.csv')], 1, /validation failed\n {2}nothing: /],
      [['import', 'origin', place('bad.csv.gz')], 1, /bad\.csv\.gz cannot be read: incorrect header check\./],
      [['import', 'origin', place('missing.csv')], 1, /ENOENT/],
      [['import', 'nowhere', place('bad.csv')], 1, /collection not found/],
      [['import', 'origin', place('bad.csv'), '--cancel'], 1, /No import of .* is in progress/],
      [['import', 'origin', place('bad.xml')], 1, /has no format/],
      [['export', 'origin', place('x.xml')], 1, /has no format/],
      [['export', 'origin', place('x.csv'), '--sort', 'nothing'], 1, /nothing/],
      [['export', 'origin', place('no/such/x.csv')], 1, /was not written: ENOENT/],
      [['import', 'origin', place('bad.csv'), '--mode', 'other'], 2, /Allowed choices/],
    ] as const) {
      const result = await records(args);
      assert.equal(result.code, code, result.stderr);
      assert.match(result.stderr, message);
    }
    const elsewhere = await records(['export', 'origin', place('x.csv')], { url: 'http://127.0.0.1:1' });
    assert.match(elsewhere.stderr, /does not answer: /);
    const nowhere = await runCli(['records', 'export', 'origin', place('x.csv')], { environment });
    assert.match(nowhere.stderr, /No stack runs on .*: name one with --url\./);
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('x.') || name.startsWith('bad.csv.import')),
      [],
    );
  });

  test('an export that breaks off leaves no file', async () => {
    await admin.post('/api/v1/collections', { name: 'long', type: 'base', fields: [{ name: 'body', type: 'text' }] });
    for (let left = 20; left > 0; left -= 1) await admin.create('long', { body: 'x'.repeat(1_000_000) });
    await using proxy = await startCutProxy(stack.url);
    const command = startCli(['records', 'export', 'long', place('long.csv'), '--url', proxy.url], { environment });
    await eventually('the export has begun', () => readdirSync(directory).some((name) => name.startsWith('long.csv.')));
    proxy.cut();
    const { code } = await command.exited;
    assert.equal(code, 1);
    assert.match(command.lines.join('\n'), /The export broke off after \d+ records, .*long\.csv was not written/);
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('long.csv')),
      [],
    );
  });

  test('an upload whose answer was lost creates no second job', async () => {
    await define('once');
    const body = linesOf(rows(10));
    writeFileSync(place('once.ndjson'), body);
    await using proxy = await startCutProxy(stack.url);
    proxy.cut();
    const lost = await records(['import', 'once', place('once.ndjson')], { url: proxy.url });
    assert.equal(lost.code, 1);
    const { key } = JSON.parse(read('once.ndjson.import'));
    const sent = await admin.send('POST', '/api/v1/records/once/import?format=ndjson', {
      rawBody: body,
      headers: { 'Idempotency-Key': key, 'Content-Type': 'application/x-ndjson' },
    });
    assert.equal(sent.status, 202);
    proxy.restore();
    const { code, stderr } = await records(['import', 'once', place('once.ndjson')], { url: proxy.url });
    assert.equal(code, 0, stderr);
    assert.deepEqual([await totalOf('once'), (await jobsOf('once')).length], [10, 1]);
  });

  /** Starts an import that waits for a locked table, and returns it once it has a job. */
  async function startWaiting(name: string, lock: pg.Client) {
    const { id } = await define(name);
    await lock.query(`begin; lock table records."${name}" in access exclusive mode`);
    assert.ok(id);
    writeFileSync(
      place(`${name}.ndjson.gz`),
      gzipSync(linesOf(rows(2000).map((row) => ({ ...row, n: row.n % 1000 })))),
    );
    const args = ['records', 'import', name, place(`${name}.ndjson.gz`), '--url', stack.url];
    const command = startCli(args, { environment });
    const note = `${name}.ndjson.gz.import`;
    await eventually('the job is noted', () => existsSync(place(note)) && 'job' in JSON.parse(read(note)));
    return { command, again: (more: string[] = []) => records([...args.slice(1, 4), ...more]) };
  }

  test('Ctrl-C pauses the job, and the same command continues it [operation §8.7]', async () => {
    const lock = new pg.Client(ground.databaseUrl);
    await lock.connect();
    tidying.defer(() => lock.end());
    const { command, again } = await startWaiting('waiting', lock);
    command.kill('SIGINT');
    const { code } = await command.exited;
    assert.equal(code, 130);
    assert.match(command.lines.join('\n'), /The job .* is paused: the same command continues it\./);
    assert.equal((await jobsOf('waiting'))[0]?.state, 'paused');
    await lock.query('rollback');
    const { code: last, stdout, stderr } = await again();
    assert.equal(last, 0, stderr);
    assert.equal(stdout, '2000 of 2000 rows were imported into waiting.\n');
    assert.deepEqual([await totalOf('waiting'), (await jobsOf('waiting')).length], [2000, 1]);
    assert.ok(!existsSync(place('waiting.ndjson.gz.import')));
  });

  test('a command that was killed leaves its job running, and --cancel ends it', async () => {
    const lock = new pg.Client(ground.databaseUrl);
    await lock.connect();
    tidying.defer(() => lock.end());
    const { command, again } = await startWaiting('dropped', lock);
    command.kill('SIGKILL');
    await command.exited;
    const { code, stdout } = await again(['--cancel']);
    assert.deepEqual([code, /is cancelled\. 0 rows were done and stay\./.test(stdout)], [0, true]);
    await lock.query('rollback');
    assert.equal((await jobsOf('dropped'))[0]?.state, 'cancelled');
    assert.ok(!existsSync(place('dropped.ndjson.gz.import')));
  });
});
