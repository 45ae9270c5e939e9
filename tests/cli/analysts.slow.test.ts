import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createDatabase } from '../harness/servers/servers.ts';
import { createGround, environmentOf, startStack } from '../harness/stacks/stack.ts';

suite('analysts read the collections with SQL', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const database = await createDatabase();
  const ground = tidying.use(await createGround(database));
  const environment = environmentOf(ground);
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const admin = await stack.admin();
  const cli = (args: readonly string[]) => runCli(args, { environment });
  const superuser = database.superuserUrl ?? '';
  const name = `ada_${process.pid}`;

  await admin.post('/api/v1/collections', { name: 'authors', type: 'auth', fields: [] });
  await admin.post('/api/v1/collections', {
    name: 'posts',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'due', type: 'date' },
      { name: 'pin', type: 'password' },
      { name: 'iban', type: 'text', options: { encrypted: true } },
      { name: 'note', type: 'text', view_rule: '' },
      { name: 'author', type: 'relation', collection: 'authors' },
    ],
  });
  const due = '2026-01-02T03:04:05Z';
  const { id } = await admin.create('posts', { title: 'One', due, pin: 'geheim!!geheim', iban: 'DE1', note: 'hidden' });

  await test('the command needs a role that may create roles, and says so [operation §8.9]', async () => {
    const refused = await cli(['analyst', 'create', name]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /--as <url>/);
    assert.equal((await cli(['analyst', 'create', 'Ada'])).code, 1);
  });

  const made = await cli(['analyst', 'create', name, '--as', superuser, '--json']);
  assert.equal(made.code, 0, made.stderr);
  const analyst = new pg.Client({ connectionString: textAt(made.json, 'url') });
  analyst.on('error', () => {});
  await analyst.connect();
  tidying.defer(() => analyst.end().catch(() => {}));
  const ask = async (text: string) => (await analyst.query(text)).rows;
  const columnsOf = async (view: string) =>
    (
      await ask(
        `select column_name from information_schema.columns where table_schema = 'analyst' and table_name = '${view}'`,
      )
    ).map(({ column_name }) => column_name);

  await test('a view has names, times, and nothing secret, encrypted or hidden [operation §8.9]', async () => {
    assert.deepEqual(await columnsOf('posts'), ['id', 'title', 'due', 'author', 'created', 'updated']);
    const accounts = await columnsOf('authors');
    for (const secret of ['password_hash', 'totp_secret', 'token_version'])
      assert.ok(!accounts.includes(secret), secret);
    const [row] = await ask('select * from posts');
    assert.equal(row.id, id);
    assert.equal(row.due.toISOString(), '2026-01-02T03:04:05.000Z');
    assert.ok(row.created instanceof Date);
    const [{ about }] = await ask(`select obj_description('analyst.posts'::regclass) as about`);
    assert.equal(about, 'Records in the collection posts. Left out: iban, note.');
    const uncommented = await ask(
      `select relname from pg_class where relnamespace = 'analyst'::regnamespace and obj_description(oid) is null`,
    );
    assert.deepEqual(uncommented, []);
  });

  await test('an analyst reads nothing else and writes nothing [operation §8.9]', async () => {
    for (const text of [
      'select * from records.posts',
      'select * from history.posts',
      'select * from system.settings',
      'select * from system.admins',
      'select password_hash from analyst.authors',
      `set default_transaction_read_only = off; delete from analyst.posts`,
      `insert into analyst.posts (id) values ('x')`,
      'create table analyst.mine (id text)',
      'create table public.mine (id text)',
    ])
      await assert.rejects(ask(text), /permission denied|does not exist|read-only/, text);
  });

  await test('views follow every schema change [operation §8.9]', async () => {
    const path = '/api/v1/collections/posts';
    await admin.post(`${path}/fields`, { name: 'stars', type: 'number' });
    assert.ok((await columnsOf('posts')).includes('stars'));
    await admin.delete(`${path}/fields/stars`);
    assert.ok(!(await columnsOf('posts')).includes('stars'));
    await admin.post('/api/v1/collections', {
      name: 'titles',
      type: 'view',
      view_query: 'select id, title from posts',
    });
    assert.deepEqual(await columnsOf('titles'), ['id', 'title']);
    assert.equal((await ask('select title from titles'))[0].title, 'One');
    await admin.patch('/api/v1/collections/posts', { name: 'articles' });
    assert.deepEqual(await columnsOf('posts'), []);
    assert.equal((await ask('select title from articles'))[0].title, 'One');
    const refused = await admin.send('PATCH', '/api/v1/collections/articles', { body: { list_rule: 'nothing = 1' } });
    assert.equal(refused.status, 422);
    assert.equal((await ask('select title from articles'))[0].title, 'One');
    await admin.delete('/api/v1/collections/titles');
    await admin.delete('/api/v1/collections/articles');
    assert.deepEqual(await columnsOf('articles'), []);
  });

  await test('the views are back after a restore [operation §8.9]', async () => {
    await stack.stop();
    const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-analysts-'));
    tidying.defer(() => rmSync(directory, { recursive: true }));
    const archive = join(directory, 'backup.tar.gz');
    for (const args of [
      ['backup', 'create', archive],
      ['backup', 'restore', archive, '--force'],
    ]) {
      const done = await cli(args);
      assert.equal(done.code, 0, done.stderr);
    }
    assert.ok((await columnsOf('authors')).includes('email'));
    assert.deepEqual(await ask('select * from authors'), []);
  });

  await test('a dropped analyst is disconnected and refused [operation §8.9]', async () => {
    const { stdout } = await cli(['analyst', 'list']);
    assert.equal(stdout.trim(), name);
    const other = await cli(['analyst', 'drop', 'postgres', '--as', superuser]);
    assert.equal(other.code, 1);
    const dropped = await cli(['analyst', 'drop', name, '--as', superuser]);
    assert.equal(dropped.code, 0, dropped.stderr);
    await assert.rejects(ask('select 1'));
    await assert.rejects(new pg.Client({ connectionString: textAt(made.json, 'url') }).connect());
  });
});
