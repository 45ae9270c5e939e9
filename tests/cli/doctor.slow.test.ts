import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { listAt } from '../harness/json.ts';
import { startRewritingProxy } from '../harness/network/rewriting-proxy.ts';
import { runCli } from '../harness/processes/cli.ts';
import { startEmbeddedNats } from '../harness/servers/embedded-nats.ts';
import { createGround, environmentOf, startStack } from '../harness/stacks/stack.ts';
import { adviceOf, foundOf, verdictsOf } from './doctor-findings.ts';

suite('doctor on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const environment = { ...environmentOf(ground), SERVICE_JWT_SECRET: '', SERVICE_ENCRYPTION_KEY: 'a passphrase' };
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const admin = await stack.admin();
  const cli = (args: readonly string[], more: Record<string, string> = {}) =>
    runCli(args, { environment: { ...environment, ...more } });
  const doctor = (more: Record<string, string> = {}) => cli(['doctor', '--json'], more);
  await admin.patch('/api/v1/admin/settings', { 'metrics.token': 'a-secret' });

  await test('doctor reports a healthy deployment, as JSON and as a table', async () => {
    const found = await doctor();
    assert.equal(found.code, 0, found.stdout);
    const { disk, ...verdicts } = verdictsOf(found);
    assert.ok(disk, 'the disk was examined');
    assert.deepEqual([...new Set(Object.values(verdicts))], ['ok'], found.stdout);
    for (const subject of [
      'PostgreSQL',
      'NATS',
      'event stream',
      'clock',
      'token secret',
      'encryption key',
      'Node',
      'tables',
    ])
      assert.ok(subject in verdicts, `${subject} was examined`);
    const table = await cli(['doctor']);
    assert.match(table.stdout, /✓ PostgreSQL .*version \d+/);
    assert.match(table.stdout, /0 broken\.$/m);
  });

  await test('doctor lists collections whose rules let guests write records or read accounts [collections §3.2]', async () => {
    await admin.post('/api/v1/collections', { name: 'wide', type: 'base', fields: [], update_rule: '' });
    await admin.post('/api/v1/collections', { name: 'shown', type: 'auth', list_rule: null });
    const found = await doctor();
    assert.equal(found.code, 0, 'the exit code is 0 with warnings only');
    assert.deepEqual(foundOf(found, 'rules'), [
      [
        'warning',
        'guests may write records or read accounts: wide (create_rule, delete_rule); shown (list_rule)',
        'If that is not intended, give these rules an expression, or "" for admins only.',
      ],
    ]);
    await admin.patch('/api/v1/collections/wide', { durability: 'relaxed' });
    const says = 'writes to these collections do not wait for the disk: wide';
    assert.deepEqual(foundOf(await doctor(), 'durability'), [['ok', says, undefined]]);
    for (const name of ['wide', 'shown']) await admin.delete(`/api/v1/collections/${name}`);
  });

  await test('doctor reports problems with advice and exit code 1', async () => {
    const noDirectory = join(ground.dataDirectory, 'a-file');
    writeFileSync(noDirectory, '');
    const [otherKey, noBus, noDatabase, noExtensions, noData] = await Promise.all([
      doctor({ SERVICE_ENCRYPTION_KEY: 'another passphrase' }),
      doctor({ SERVICE_NATS_URL: 'nats://127.0.0.1:1' }),
      doctor({ SERVICE_DATABASE_URL: 'postgres://127.0.0.1:1/x' }),
      doctor({ SERVICE_EXTENSIONS_DIR: join(ground.dataDirectory, 'none') }),
      doctor({ SERVICE_DATA_DIR: noDirectory }),
    ]);
    assert.deepEqual([otherKey.code, noBus.code, noDatabase.code, noExtensions.code], [1, 1, 1, 1]);
    assert.equal(verdictsOf(noData)['data directory'], 'broken');
    for (const found of [otherKey, noBus, noDatabase, noExtensions, noData])
      for (const { verdict, advice, subject } of listAt(found.json, 'findings'))
        if (verdict === 'broken') assert.match(String(advice), /^[A-Z].{10,}\.$/, String(subject));
    assert.equal(verdictsOf(noDatabase).NATS, 'ok', 'the bus is examined without the database');
    assert.equal(verdictsOf(noExtensions).extensions, 'broken');
    assert.equal(verdictsOf(otherKey)['encryption key'], 'broken');
    assert.match(String(adviceOf(otherKey, 'encryption key')), /SERVICE_ENCRYPTION_KEY/);
    assert.equal(verdictsOf(noBus).NATS, 'broken');
    assert.equal(verdictsOf(noBus).PostgreSQL, 'ok');
    assert.equal(verdictsOf(noDatabase).PostgreSQL, 'broken');
  });

  await test('doctor names extensions that cannot be loaded, with the reason', async () => {
    const directory = join(ground.dataDirectory, 'broken-extensions');
    mkdirSync(directory);
    for (const [name, source] of Object.entries({
      'well.ts': 'export const extension = {};',
      'loops.mjs': 'for (;;);',
      'half.ts': 'export const extension = {',
    }))
      writeFileSync(join(directory, name), source);
    const found = await doctor({ SERVICE_EXTENSIONS_DIR: directory });
    assert.equal(found.code, 1);
    const reported = listAt(found.json, 'findings').filter(({ subject }) => subject === 'extensions');
    assert.deepEqual(
      reported.map(({ verdict }) => verdict),
      ['ok', 'broken', 'broken'],
    );
    const [well, half, loops] = reported.map(({ says }) => String(says));
    assert.equal(well, 'well');
    assert.match(half ?? '', /^half cannot be loaded: SyntaxError.*half\.ts:1\)$/);
    assert.match(loops ?? '', /^loops cannot be loaded: it did not load within 5000 ms$/);
  });

  await test('doctor warns about conditions that will need action', async () => {
    const database = new pg.Client({ connectionString: ground.databaseUrl });
    await database.connect();
    await database.query(
      `insert into system.outbox (event_id, event, body, parked_at) values (gen_random_uuid(), 'x', '{}', now())`,
    );
    await database.query(`insert into system.kysely_migration values ('9999-from-the-future-needs-9998', '')`);
    chmodSync(join(ground.dataDirectory, 'jwt_secret'), 0o644);
    const found = await doctor();
    await database.query(`delete from system.kysely_migration where name like '9999%'`);
    await database.query('delete from system.outbox where parked_at is not null');
    await database.end();
    const verdicts = verdictsOf(found);
    assert.equal(verdicts['parked events'], 'warning');
    assert.equal(verdicts['token secret'], 'warning');
    assert.equal(verdicts.tables, 'broken');
    assert.equal(found.code, 1);
  });

  /** Returns the URL of a connection that sees these functions and tables before the server's. */
  async function databaseWith(schema: string, definitions: string): Promise<string> {
    const client = new pg.Client({ connectionString: ground.databaseUrl });
    await client.connect();
    await client.query(`create schema ${schema}; set search_path = ${schema}, pg_catalog; ${definitions}`);
    await client.end();
    const url = new URL(ground.databaseUrl);
    url.searchParams.set('options', `-c search_path=${schema},pg_catalog`);
    return url.href;
  }
  const clockAdvice = 'Synchronize all machines with NTP.';

  await test('doctor reports a database whose clock differs, as a warning or as broken', async () => {
    const clockOf = (schema: string, interval: string) =>
      databaseWith(
        schema,
        `create function ${schema}.clock_timestamp() returns timestamptz language sql volatile
         as $$ select pg_catalog.clock_timestamp() + interval '${interval}' $$`,
      );
    const [late, early] = await Promise.all([clockOf('late', '1 hour'), clockOf('early', '-15 seconds')]);
    const [far, near] = await Promise.all([
      doctor({ SERVICE_DATABASE_URL: late }),
      doctor({ SERVICE_DATABASE_URL: early }),
    ]);
    const [[verdict, says, advice] = []] = foundOf(far, 'clock').map((row) => [row].flat());
    assert.deepEqual([far.code, verdict, advice], [1, 'broken', clockAdvice], far.stdout);
    assert.match(String(says), /^the database differs by 3[56]\d\d\.\d s$/);
    assert.equal(foundOf(far, 'clock').length, 2, 'the clock of the bus was examined too');
    const [[warned, differs] = []] = foundOf(near, 'clock').map((row) => [row].flat());
    assert.deepEqual([near.code, warned], [0, 'warning'], near.stdout);
    assert.match(String(differs), /^the database differs by 1\d\.\d s$/);
  });

  await test('doctor reports a bus whose clock differs', async () => {
    const nextYear = new Date().getUTCFullYear() + 1;
    await using bus = await startRewritingProxy(ground.bus.url, (answer) =>
      answer.replaceAll(/"ts":"\d{4}/g, `"ts":"${nextYear}`),
    );
    const found = await doctor({ SERVICE_NATS_URL: bus.url });
    const [ofDatabase, ofBus] = foundOf(found, 'clock').map((row) => [row].flat());
    assert.deepEqual([found.code, ofDatabase?.[0], ofBus?.[0], ofBus?.[2]], [1, 'ok', 'broken', clockAdvice]);
    assert.match(String(ofBus?.[1]), /^the bus differs by \d{8}\.\d s$/);
  });

  await test('doctor reports unsupported server versions as broken', async () => {
    // The catalog is like one before version 15.
    const oldDatabase = await databaseWith(
      'fourteen',
      `create function fourteen.current_setting(name text) returns text language sql as $$ select case name
         when 'server_version' then '14.22' when 'server_version_num' then '140022'
         else pg_catalog.current_setting(name) end $$;
       create view fourteen.pg_database as select oid, datname, encoding, datfrozenxid from pg_catalog.pg_database`,
    );
    await using oldBus = await startRewritingProxy(ground.bus.url, (answer) =>
      answer.replaceAll(/^(?<before>INFO .*"version":")[^"]*/gm, '$<before>2.9.25'),
    );
    const found = await doctor({ SERVICE_DATABASE_URL: oldDatabase, SERVICE_NATS_URL: oldBus.url });
    assert.equal(found.code, 1);
    assert.deepEqual(foundOf(found, 'PostgreSQL'), [['broken', 'version 14.22', 'Use PostgreSQL 15 or newer.']]);
    assert.deepEqual(foundOf(found, 'NATS'), [['broken', 'version 2.9.25', 'Use nats-server 2.10 or newer.']]);
  });

  await test('doctor reports a nats-server without JetStream', async () => {
    await using bus = await startEmbeddedNats({ jetstream: false });
    const found = await doctor({ SERVICE_NATS_URL: bus.url });
    const advice =
      'Start nats-server with JetStream (-js, or jetstream {} in its configuration), and enable it for the account.';
    assert.deepEqual([found.code, foundOf(found, 'NATS')], [1, [['broken', 'JetStream is off', advice]]]);
    assert.deepEqual(foundOf(found, 'PostgreSQL').length, 1, 'the database is examined all the same');
  });

  await test('doctor reports a disk with less free space than requested', async () => {
    const found = await cli(['doctor', '--json', '--min-free', '1e9']);
    const [[verdict, says, advice] = []] = foundOf(found, 'disk').map((row) => [row].flat());
    assert.deepEqual([found.code, verdict], [1, 'broken'], found.stdout);
    assert.match(String(says), /^\d+\.\d GiB \(\d+ %\) free at \//);
    assert.equal(advice, 'Free some space: the database, the bus and uploads stop when the disk is full.');
    const noNumber = await cli(['doctor', '--min-free', 'much']);
    assert.equal(noNumber.code, 2);
    assert.match(noNumber.stderr, /'--min-free <GiB>' argument 'much' is invalid\. It must be a number of GiB\./);
  });
});
