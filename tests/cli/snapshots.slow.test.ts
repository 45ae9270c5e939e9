import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { at, listAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createDatabase } from '../harness/servers/servers.ts';
import { createGround, environmentOf, startStack } from '../harness/stacks/stack.ts';

suite('snapshots on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const environment = { ...environmentOf(ground), SERVICE_JWT_SECRET: '', SERVICE_ENCRYPTION_KEY: 'a passphrase' };
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const admin = await stack.admin();
  const cli = (args: readonly string[], more: Record<string, string> = {}) =>
    runCli(args, { environment: { ...environment, ...more } });

  await test("commands refuse a newer version's tables, and a database without tables", async () => {
    const database = new pg.Client({ connectionString: ground.databaseUrl });
    await database.connect();
    await database.query(
      `insert into system.kysely_migration values ('9999-future-needs-9998', '2099-01-01T00:00:00.000Z')`,
    );
    const newKey = { SERVICE_NEW_ENCRYPTION_KEY: 'new' };
    const shown = await cli(['snapshot', 'export']);
    const rotated = await cli(['encryption', 'rotate'], newKey);
    await database.query(`delete from system.kysely_migration where name like '9999%'`);
    assert.deepEqual([shown.code, rotated.code], [78, 1]);
    assert.match(
      shown.stderr,
      /^The database was made by a newer version: it has 9999-future-needs-9998\. Run that version/,
    );
    assert.match(
      rotated.stderr,
      /^The tables are from a newer version \(9999-future-needs-9998\): use that version's command line/,
    );

    const empty = await createDatabase();
    const nothing = { ...newKey, SERVICE_DATABASE_URL: empty.url };
    const file = join(ground.dataDirectory, 'nothing.tar.gz');
    const refused = [await cli(['encryption', 'rotate'], nothing), await cli(['backup', 'create', file], nothing)];
    await database.end();
    await empty.drop();
    for (const { code, stderr } of refused) {
      assert.equal(code, 1);
      assert.match(stderr, /^There is no deployment in this database: no service has ever started on it\.$/m);
    }
    assert.ok(!existsSync(file) && !existsSync(`${file}.part`));
  });

  const file = join(ground.dataDirectory, 'snapshot.json');
  const collectionNames = async () =>
    listAt((await admin.get('/api/v1/collections')).json, 'data').map(({ name }) => name);

  await test('snapshot export writes the same document as the API', async () => {
    await admin.post('/api/v1/collections', { name: 'posts', type: 'base', fields: [{ name: 'title', type: 'text' }] });
    const exported = await cli(['snapshot', 'export', file]);
    assert.deepEqual([exported.code, exported.stdout], [0, ''], exported.stderr);
    const answer = await admin.get('/api/v1/admin/migrations/snapshot');
    const written: unknown = JSON.parse(readFileSync(file, 'utf8'));
    assert.deepEqual(at(written, 'collections'), at(answer.json, 'data.collections'));
    const printed = await cli(['snapshot', 'export']);
    assert.deepEqual(at(printed.json, 'collections'), at(written, 'collections'));
  });

  await test('snapshot apply changes nothing in a dry run, and otherwise reaches every service', async () => {
    await admin.delete('/api/v1/collections/posts');
    const dry = await cli(['snapshot', 'apply', file, '--dry-run', '--json']);
    assert.deepEqual(
      [dry.code, dry.json],
      [0, { mode: 'additive', created: ['posts'], updated: [], unchanged: [], dry_run: true }],
    );
    assert.deepEqual(await collectionNames(), []);
    const applied = await cli(['snapshot', 'apply', file]);
    assert.deepEqual(
      [applied.code, applied.stdout],
      [0, 'created: posts\nupdated: none\nunchanged: none\n'],
      applied.stderr,
    );
    await admin.create('posts', { title: 'at once' });
    const again = await cli(['snapshot', 'apply', file, '--mode', 'sync', '--json']);
    assert.deepEqual(at(again.json, 'unchanged'), ['posts']);
  });

  await test('snapshot apply refuses an invalid snapshot and names the problem', async () => {
    writeFileSync(file, '{"version": 1, "collections": [{"name": "x y", "type": "base"}]}');
    const [badName, noFile, badMode] = await Promise.all([
      cli(['snapshot', 'apply', file, '--json']),
      cli(['snapshot', 'apply', `${file}.none`]),
      cli(['snapshot', 'apply', file, '--mode', 'maybe']),
    ]);
    assert.deepEqual([badName.code, noFile.code, badMode.code], [1, 1, 2]);
    assert.match(Object.keys(Object(at(JSON.parse(badName.stderr), 'details'))).join(), /name/);
    assert.match(noFile.stderr, /cannot be read/);
  });
});
